/* sort.c - a radix sort: least significant digits first, digits that are all equal left out. Keys
 * that are sorted for the most part, as those of kallsyms, are merged with the others. */
#include "image/sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* Returns how many keys are sorted from the first on. */
static size_t count_sorted(const struct ps_key *keys, size_t n)
{
	size_t i = n ? 1 : 0;

	while (i < n && keys[i].key >= keys[i - 1].key)
		i++;
	return i;
}

/* Merges the keys before `middle` with the others, both sorted: from the end, since the others
 * are few. */
static void merge_sorted(struct ps_key *keys, size_t middle, size_t n, struct ps_key *scratch)
{
	size_t i = middle, j = n - middle, to = n;

	memcpy(scratch, keys + middle, j * sizeof(*keys));
	while (j) {
		to--;
		keys[to] = i && keys[i - 1].key > scratch[j - 1].key ? keys[--i] : scratch[--j];
	}
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

static void sort_by_digits(struct ps_key *keys, size_t n, struct ps_key *scratch)
{
	struct ps_key *from = keys, *to = scratch;

	for (unsigned int shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct ps_key *sorted = to;

		if (!sort_by_digit(from, to, n, shift))
			continue;
		to = from;
		from = sorted;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
}

int ps_sort_keys(struct ps_key *keys, size_t n, struct pd_budget *budget)
{
	const size_t sorted = count_sorted(keys, n);
	struct ps_key *scratch;

	if (sorted == n)
		return 0;
	scratch = pd_budget_alloc(budget, n * sizeof(*keys));
	if (!scratch)
		return -1;
	if (n - sorted > n / 2) {
		sort_by_digits(keys, n, scratch);
	} else {
		if (count_sorted(keys + sorted, n - sorted) < n - sorted)
			sort_by_digits(keys + sorted, n - sorted, scratch);
		merge_sorted(keys, sorted, n, scratch);
	}
	pd_budget_free(budget, scratch, n * sizeof(*keys));
	return 0;
}
