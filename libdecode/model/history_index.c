/* history_index.c - narrows a search among items ordered by a number. */
#include "model/history_index.h"

#define ITEMS_PER_RANGE 2	/* on average, where numbers are dense */

void pd_key_index_make(struct pd_key_index *x, uint32_t n,
		       uint32_t (*key_of)(const void *ctx, uint32_t i), const void *ctx)
{
	const uint32_t largest = n ? key_of(ctx, n - 1) : 0;
	uint32_t *first, range = 0;

	x->shift = 0;
	while (x->shift < 31 && largest >> x->shift > n / ITEMS_PER_RANGE)
		x->shift++;
	first = n ? pd_array_reset(&x->first, (largest >> x->shift) + 2) : NULL;
	if (!first) {
		x->first.nr = 0;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		while (range <= key_of(ctx, i) >> x->shift)
			first[range++] = i;
	first[range] = n;
}
