/* history_ranked.c - orders ranks by the keys of their changes. The upper half of a key, which is
 * small, is sorted by counting; the lower one by a radix sort of each group. */
#include "model/history_ranked.h"

#include <string.h>

#include "model/history_sort.h"

/* Sets the room of each group, and returns the number of ranks. */
static uint32_t count_groups(const struct pd_history *h, uint32_t *begin,
			     uint64_t (*key_of)(const struct pd_history *h, uint32_t rank))
{
	uint32_t sum = 0;

	for (uint32_t rank = 1; rank <= h->changes.nr; rank++) {
		const uint64_t key = key_of(h, rank);

		if (key != PD_NO_KEY)
			begin[key >> 32]++;
	}
	for (size_t i = 0; i < PD_KEY_GROUPS; i++) {
		const uint32_t n = begin[i];

		begin[i] = sum;
		sum += n;
	}
	return sum;
}

int pd_ranked_make(struct pd_history *h, struct pd_ranked *r,
		   uint64_t (*key_of)(const struct pd_history *h, uint32_t rank))
{
	uint32_t ends[PD_KEY_GROUPS] = { 0 }, begin = 0;
	uint64_t *scratch;

	r->nr = count_groups(h, ends, key_of);
	r->items = pd_budget_alloc(&h->budget, r->nr * sizeof(*r->items));
	scratch = pd_budget_alloc(&h->budget, r->nr * sizeof(*scratch));
	if (!r->items || !scratch) {
		pd_budget_free(&h->budget, scratch, r->nr * sizeof(*scratch));
		pd_ranked_free(h, r);
		return -1;
	}
	for (uint32_t rank = 1; rank <= h->changes.nr; rank++) {
		const uint64_t key = key_of(h, rank);

		if (key != PD_NO_KEY)
			r->items[ends[key >> 32]++] = key << 32 | rank;
	}
	for (size_t i = 0; i < PD_KEY_GROUPS; i++) {
		if (ends[i] - begin > 1)	/* most groups are empty */
			pd_upper_halves_sort(r->items + begin, scratch, ends[i] - begin);
		begin = ends[i];
	}
	pd_budget_free(&h->budget, scratch, r->nr * sizeof(*scratch));
	return 0;
}

void pd_ranked_free(struct pd_history *h, struct pd_ranked *r)
{
	pd_budget_free(&h->budget, r->items, r->nr * sizeof(*r->items));
	*r = (struct pd_ranked){ .items = NULL };
}
