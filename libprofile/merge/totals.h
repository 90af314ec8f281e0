/* totals.h - a tree of functions with totals, and children in order. */
#ifndef PP_TOTALS_H
#define PP_TOTALS_H

#include "profile/profile_internal.h"

/* Returns the nodes of a tree whose frames are functions, with the same numbers; NULL without
 * memory. The caller frees them with pp_memory_free(). */
struct pp_merged *pp_link(const struct pp_tree *t, struct pp_memory *m);

#endif
