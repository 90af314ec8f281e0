/* walk.c - the way down the tree: see walk.h. */
#include "profile/walk.h"

#include <string.h>

#include "profile/groups.h"

void pp_walk_to(struct pp_walk *w, uint32_t frame)
{
	if (frame == PP_NONE)
		w->node = PP_NONE;
	if (w->node != PP_NONE)
		w->node = pp_tree_child(&w->p->tree, &w->p->memory, w->node, frame);
}

void pp_walk_to_text(struct pp_walk *w, enum pp_kind kind, const char *text)
{
	struct pp_profile *p = w->p;
	const uint32_t id = pp_strings_add(&p->strings, &p->memory, text, strlen(text));

	pp_walk_to(w, id == PP_NONE ? PP_NONE :
		   pp_frames_add_text(&p->frames, &p->memory, kind, id));
}

void pp_walk_to_task(struct pp_walk *w, struct pd_reader *r, const struct pd_fields *record,
		     const struct pd_task *task)
{
	const struct pp_options *o = &w->p->options;
	char text[PP_GROUP_TEXT];
	uint32_t group;

	if (task->flags & PD_TASK_IDLE)
		pp_walk_to_text(w, PP_KIND_IDLE, "");
	for (size_t i = 0; (group = pp_group_at(o->groups, i)); i++)
		pp_walk_to_text(w, PP_KIND_THREAD, pp_group_name((enum pp_group)group, o->history,
								 r, record, task, text));
}
