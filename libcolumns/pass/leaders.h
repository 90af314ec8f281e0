/* leaders.h - which event leads the group of each event. */
#ifndef PC_LEADERS_H
#define PC_LEADERS_H

#include "pd/tree.h"
#include "tables/batch.h"

/* Appends the leader of each event to `leaders`, as int32_t; -1: of no group. */
void pc_leaders_learn(struct pd_buf *leaders, struct pd_tree *tree, struct pd_reader *r);

/* Sets the column of an event to what was learned. */
void pc_leaders_set(const struct pd_buf *leaders, size_t event, struct pc_batch *events);

#endif
