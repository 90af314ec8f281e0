/* sort.c - a radix sort: least significant digits first, digits that are all equal left out. */
#include "image/sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static bool is_sorted(const struct ps_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (keys[i].key < keys[i - 1].key)
			return false;
	return true;
}

/* Sorts by one digit into `to`. Returns false if all have the same, without a copy. */
static bool sort_by_digit(const struct ps_key *from, struct ps_key *to, size_t n,
			  unsigned int shift)
{
	size_t places[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		places[from[i].key >> shift & (DIGITS - 1)]++;
	if (places[from[0].key >> shift & (DIGITS - 1)] == n)
		return false;
	for (size_t i = 0; i < DIGITS; i++) {
		const size_t count = places[i];

		places[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
	return true;
}

int ps_sort_keys(struct ps_key *keys, size_t n, struct pd_budget *budget)
{
	struct ps_key *from = keys, *to, *scratch;

	if (is_sorted(keys, n))
		return 0;
	to = scratch = pd_budget_alloc(budget, n * sizeof(*keys));
	if (!scratch)
		return -1;
	for (unsigned int shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct ps_key *sorted = to;

		if (!sort_by_digit(from, to, n, shift))
			continue;
		to = from;
		from = sorted;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
	pd_budget_free(budget, scratch, n * sizeof(*keys));
	return 0;
}
