/* event_names.h - names of events for formats in which a name stands for one column. */
#ifndef PP_EVENT_NAMES_H
#define PP_EVENT_NAMES_H

#include "profile/profile_internal.h"

/* Returns of each event whether an earlier one has its name: formats then append its number, from
 * 1. To be freed with pp_memory_free(). NULL without memory. */
bool *pp_find_repeated_names(struct pp_profile *p);

#endif
