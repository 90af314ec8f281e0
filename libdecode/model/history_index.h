/* history_index.h - narrows a search among items ordered by a number: for each range of numbers,
 * where its items begin. */
#ifndef PD_MODEL_HISTORY_INDEX_H
#define PD_MODEL_HISTORY_INDEX_H

#include "base/array.h"

/* Must be zero-initialized, except for first.budget and first.width = 4. */
struct pd_key_index {
	struct pd_array first;	/* item where each range begins, and the end; empty: no index */
	unsigned int shift;	/* a range has 2^shift numbers */
};

/* Makes the index of n items. Without memory there is none. */
void pd_key_index_make(struct pd_key_index *x, uint32_t n,
		       uint32_t (*key_of)(const void *ctx, uint32_t i), const void *ctx);

/* Reduces the n items from *low on to those that may have the key, or come just after it. */
static inline void pd_key_index_narrow(const struct pd_key_index *x, uint32_t key, uint32_t *low,
				       uint32_t *n)
{
	const uint32_t *first = x->first.items, range = key >> x->shift;

	if (!x->first.nr)
		return;
	if (range >= x->first.nr - 1) {
		*low = first[x->first.nr - 1];
		*n = 0;
		return;
	}
	*low = first[range];
	*n = first[range + 1] - *low;
}

/* Reduces the n items from 0 on to those that are not in the index, which are after the others. */
static inline void pd_key_index_skip(const struct pd_key_index *x, uint32_t *low, uint32_t *n)
{
	const uint32_t *first = x->first.items;

	if (!x->first.nr)
		return;
	*low = first[x->first.nr - 1];
	*n -= *low;
}

#endif
