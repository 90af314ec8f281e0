/* firsts.h - when each stack had its first sample: samples need not come in the order of time. */
#ifndef PP_FIRSTS_H
#define PP_FIRSTS_H

#include "profile/profile_internal.h"

static inline bool pp_is_earlier(const struct pp_first *a, const struct pp_first *b)
{
	return a->time != b->time ? a->time < b->time : a->number < b->number;
}

/* Notes a sample of a node, whose samples do not have it yet. Without memory nothing is known of
 * any node from then on. */
void pp_firsts_note(struct pp_profile *p, uint32_t node, const struct pp_first *sample);

/* Returns what is known of a node that has samples, or NULL. */
const struct pp_first *pp_firsts_of(const struct pp_profile *p, uint32_t node);

void pp_firsts_free(struct pp_firsts *f, struct pp_memory *m);

#endif
