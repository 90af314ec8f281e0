/* walk.h - the way down the tree, from an event to the node of a stack. */
#ifndef PP_WALK_H
#define PP_WALK_H

#include "profile/profile_internal.h"

struct pp_walk {
	struct pp_profile *p;
	uint32_t node;	/* PP_NONE: there was no memory for the next one */
};

/* Goes down to a frame; PP_NONE: there was no memory for it. */
void pp_walk_to(struct pp_walk *w, uint32_t frame);
/* The same for a frame with a text. */
void pp_walk_to_text(struct pp_walk *w, enum pp_kind kind, const char *text);
/* Goes down to the frames above the stacks of a task, that of a record. */
void pp_walk_to_task(struct pp_walk *w, struct pd_reader *r, const struct pd_fields *record,
		     const struct pd_task *task);

#endif
