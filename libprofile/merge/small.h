/* small.h - stacks that are too light to show, as one frame "[small]" below their callers. */
#ifndef PP_SMALL_H
#define PP_SMALL_H

#include "profile/profile_internal.h"

/* Joins what has less than `percent` of its event's weight, in p->shape: the sums of all other
 * frames stay as they are. `function` is the one that they become. Returns 0, or -1 without
 * memory. */
int pp_join_small(struct pp_profile *p, double percent, uint32_t function);

#endif
