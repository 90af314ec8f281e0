/* groups.h - the frames above the stacks: control group, task and CPU of a sample. */
#ifndef PP_GROUPS_H
#define PP_GROUPS_H

#include "pd/profile.h"

enum { PP_GROUP_TEXT = 32 };

/* Returns the i-th of the groups, from the root, or 0. */
uint32_t pp_group_at(uint32_t groups, size_t i);

/* Returns the name of a sample's group: one of the history, or `text`. */
const char *pp_group_name(enum pp_group group, const struct pd_history *h, struct pd_reader *r,
			  const struct pd_fields *sample, const struct pd_task *task,
			  char text[PP_GROUP_TEXT]);

/* Returns whether the name of a group is a number, and sets it. Else *text becomes what the format
 * of labels has for it: without the word, empty if the group is not known. */
bool pp_group_number(enum pp_group group, struct pd_bytes *text, uint64_t *number);

#endif
