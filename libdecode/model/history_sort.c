/* history_sort.c - a radix sort, byte by byte; few pairs are inserted one by one. */
#include "model/history_sort.h"

#include <stdbool.h>
#include <string.h>

#define FEW 48
#define BYTES 8

static void insert_each(struct pd_pair *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct pd_pair p = v[i];
		size_t at = i;

		for (; at && v[at - 1].key > p.key; at--)
			v[at] = v[at - 1];
		v[at] = p;
	}
}

static bool is_sorted(const struct pd_pair *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i - 1].key > v[i].key)
			return false;
	return true;
}

/* Turns the counts of 256 digits into where the numbers with each digit begin. */
static void begin_digits(size_t *counts)
{
	size_t sum = 0;

	for (unsigned int i = 0; i < 256; i++) {
		const size_t count = counts[i];

		counts[i] = sum;
		sum += count;
	}
}

struct pd_pair *pd_pairs_sort(struct pd_pair *v, struct pd_pair *scratch, size_t n)
{
	size_t counts[BYTES][256];

	if (n <= FEW) {
		insert_each(v, n);
		return v;
	}
	if (is_sorted(v, n))
		return v;
	memset(counts, 0, sizeof(counts));
	for (size_t i = 0; i < n; i++)
		for (unsigned int byte = 0; byte < BYTES; byte++)
			counts[byte][v[i].key >> 8 * byte & 0xff]++;
	for (unsigned int byte = 0; byte < BYTES; byte++) {
		struct pd_pair *other = scratch;
		size_t *at = counts[byte];

		if (at[v[0].key >> 8 * byte & 0xff] == n)	/* the same in all */
			continue;
		begin_digits(at);
		for (size_t i = 0; i < n; i++)
			scratch[at[v[i].key >> 8 * byte & 0xff]++] = v[i];
		scratch = v;
		v = other;
	}
	return v;
}

static bool is_sorted_by_halves(const uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i - 1] >> 32 > v[i] >> 32)
			return false;
	return true;
}

void pd_upper_halves_sort(uint64_t *v, uint64_t *scratch, size_t n)
{
	uint64_t *from = v, *to = scratch;
	size_t counts[BYTES][256];

	if (is_sorted_by_halves(v, n))	/* most often there is none at all */
		return;
	memset(counts, 0, sizeof(counts));
	for (size_t i = 0; i < n; i++)
		for (unsigned int byte = BYTES / 2; byte < BYTES; byte++)
			counts[byte][v[i] >> 8 * byte & 0xff]++;
	for (unsigned int byte = BYTES / 2; byte < BYTES; byte++) {
		uint64_t *const other = to;
		size_t *at = counts[byte];

		if (at[v[0] >> 8 * byte & 0xff] == n)	/* the same in all */
			continue;
		begin_digits(at);
		for (size_t i = 0; i < n; i++)
			to[at[from[i] >> 8 * byte & 0xff]++] = from[i];
		to = from;
		from = other;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}
