/* blocks.h - memory for compression libraries, charged to a budget and used again.
 *
 * Input may consist of thousands of members of a few bytes each. A library that allocates its megabytes for each of them would
 * spend nearly all time in clearing memory; here they are allocated once. */
#ifndef PD_INPUT_BLOCKS_H
#define PD_INPUT_BLOCKS_H

#include <stddef.h>

#include "base/buf.h"

struct pd_block;

/* Zero-initialise with a budget. */
struct pd_blocks {
	struct pd_budget *budget;
	struct pd_block *unused;
};

/* What is in it is undefined; NULL: the budget or the machine says no. */
void *pd_blocks_alloc(struct pd_blocks *b, size_t size);
/* p is of pd_blocks_alloc(), or NULL. */
void pd_blocks_release(struct pd_blocks *b, void *p);
/* Frees what was released. */
void pd_blocks_free(struct pd_blocks *b);

#endif
