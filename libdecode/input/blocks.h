/* blocks.h - reusable memory for compression libraries, charged to a budget.
 *
 * Input may consist of thousands of members of a few bytes each. A library that allocated megabytes
 * for each of them would spend nearly all time clearing memory.
 */
#ifndef PD_INPUT_BLOCKS_H
#define PD_INPUT_BLOCKS_H

#include <stddef.h>

#include "base/buf.h"

struct pd_block;

/* Must be zero-initialized, except for the budget. */
struct pd_blocks {
	struct pd_budget *budget;
	struct pd_block *unused;
};

/* Returns uninitialized memory, or NULL if the budget or malloc fails. */
void *pd_blocks_alloc(struct pd_blocks *b, size_t size);
/* Makes p, which is from pd_blocks_alloc() or NULL, available again. */
void pd_blocks_release(struct pd_blocks *b, void *p);
/* Frees the released blocks. */
void pd_blocks_free(struct pd_blocks *b);

#endif
