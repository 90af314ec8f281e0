/* script_access.h - what samples of memory accesses have in the layout of perf script. */
#ifndef PP_SCRIPT_ACCESS_H
#define PP_SCRIPT_ACCESS_H

#include "encoding/out.h"
#include "pd/tree.h"

/* Writes what stands before the place of a sample, which is a tree: the address, where the data
 * was, and the costs. *widest is the longest text so far of where the data was; 0 at first. */
void pp_put_access(struct pp_out *out, const struct pd_item *sample, enum pp_like like,
		   size_t *widest);

/* Writes what stands after the place: the physical address and the sizes of pages. */
void pp_put_pages(struct pp_out *out, const struct pd_item *sample);

#endif
