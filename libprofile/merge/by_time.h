/* by_time.h - numbers in the order of time: see by_time.c. */
#ifndef PP_BY_TIME_H
#define PP_BY_TIME_H

#include "profile/profile_internal.h"

/* Gives events and frames the numbers that they had if samples had been added in the order of time,
 * and lists the nodes so in p->in_time, which stays NULL if they are. Returns 0, or -1 without
 * memory. */
int pp_number_by_time(struct pp_profile *p);

#endif
