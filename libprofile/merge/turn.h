/* turn.h - the stacks of a profile from the innermost function to the outermost. */
#ifndef PP_TURN_H
#define PP_TURN_H

#include "profile/profile_internal.h"

/* Turns the stacks of p->shape over, below events and tasks, and the places with them. Stacks have
 * at most max_depth functions then; 0: all. Returns 0, or -1 without memory. */
int pp_turn(struct pp_profile *p, uint32_t max_depth);

/* Returns the weight of the samples in the function of a merged node: of those that end there, or
 * in a tree that was turned of those that begin there. */
uint64_t pp_weight_in(const struct pp_profile *p, uint32_t node);

#endif
