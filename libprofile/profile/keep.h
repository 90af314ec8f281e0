/* keep.h - the samples one by one, when there is no memory for all of them. */
#ifndef PP_KEEP_H
#define PP_KEEP_H

#include "profile/profile_internal.h"

/* Keeps none, if the profile's options allow that. Returns 0, else -1. */
int pp_keep_none(struct pp_profile *p);

#endif
