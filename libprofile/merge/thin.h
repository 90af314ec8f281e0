/* thin.h - fewer samples with a time, which have the weight of all. */
#ifndef PP_THIN_H
#define PP_THIN_H

#include "profile/profile_internal.h"

/* Leaves one of `of` samples of each thread and event in the tracks: the last of each group, with
 * the weight of the group. The places of stacks must be known. Returns 0, or -1 without memory. */
int pp_thin(struct pp_profile *p, uint32_t of);

#endif
