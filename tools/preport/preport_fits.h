/* preport_longest.h - output that is too long for its viewers. */
#ifndef PD_TOOLS_PREPORT_LONGEST_H
#define PD_TOOLS_PREPORT_LONGEST_H

#include "pd/profile.h"

/* Returns whether the output, before it is compressed, is longer than what viewers of it open. */
bool longest_is_exceeded(struct pp_profile *p, const struct pp_write *o);

#endif
