/* history_order.c - puts the changes in the order of their times. One without a time has that of
 * the latest change before it in the recording: it came after that, and about then. */
#include "model/history.h"
#include "model/history_sort.h"

#define RANKS_A_KEY 32	/* changes of which one is in the array that a search begins with */

struct sorter {
	struct pd_pair *pairs, *other;	/* the values: changes */
	uint32_t n;
};

static struct pd_change *changes_of(struct pd_history *h)
{
	return h->changes.items;
}

static void sort_pairs(struct sorter *s)
{
	struct pd_pair *sorted = pd_pairs_sort(s->pairs, s->other, s->n);

	if (sorted == s->pairs)
		return;
	s->other = s->pairs;
	s->pairs = sorted;
}

/* Orders the changes by where they are in the recording. Most were learned in that order. */
static void sort_by_place(struct pd_history *h, struct sorter *s)
{
	const uint64_t *inner = h->inner.items;

	for (uint32_t i = 0; i < s->n; i++)
		s->pairs[i] = (struct pd_pair){ h->inner.nr ? inner[i] : 0, i };
	if (h->inner.nr)
		sort_pairs(s);
	for (uint32_t i = 0; i < s->n; i++)
		s->pairs[i].key = changes_of(h)[s->pairs[i].value].offset;
	sort_pairs(s);
}

/* Sets the times of changes without one, and marks those whose time is the latest so far. */
static void set_times(struct pd_history *h, struct sorter *s)
{
	uint64_t latest = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		struct pd_change *c = &changes_of(h)[s->pairs[i].value];

		if (c->time == PD_NO_TIME && latest)
			c->time = latest;
		s->pairs[i].key = pd_change_key(h, c);
		c->was_latest = s->pairs[i].key >= latest;
		if (c->was_latest)
			latest = s->pairs[i].key;
	}
}

static void move(struct pd_history *h, uint32_t to, uint32_t from)
{
	uint64_t *inner = h->inner.items;

	changes_of(h)[to] = changes_of(h)[from];
	if (h->inner.nr)
		inner[to] = inner[from];
}

/* Moves each change to where the pair that has it is. */
static void permute(struct pd_history *h, struct sorter *s)
{
	const uint64_t *inner = h->inner.items;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct pd_change first = changes_of(h)[i];
		const uint64_t first_inner = h->inner.nr ? inner[i] : 0;
		uint32_t to = i;

		while (s->pairs[to].value != i) {
			const uint32_t from = s->pairs[to].value;

			move(h, to, from);
			s->pairs[to].value = to;	/* is in its place */
			to = from;
		}
		s->pairs[to].value = to;
		changes_of(h)[to] = first;
		if (h->inner.nr)
			((uint64_t *)h->inner.items)[to] = first_inner;
	}
}

static int index_changes(struct pd_history *h)
{
	const uint32_t n = h->changes.nr;
	uint64_t *keys = pd_array_reset(&h->keys, (n + RANKS_A_KEY - 1) / RANKS_A_KEY);

	if (pd_bits_reset(&h->latest, n + 1) || (n && !keys))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const struct pd_change *c = &changes_of(h)[i];

		if (i % RANKS_A_KEY == 0)
			keys[i / RANKS_A_KEY] = pd_change_key(h, c);
		if (c->was_latest)
			pd_bits_set(&h->latest, i + 1);
		if (c->kind == PD_CHANGE_MAP)
			pd_map_at(h, c->item)->rank = i + 1;
	}
	return 0;
}

int pd_history_order_changes(struct pd_history *h)
{
	const size_t room = 2 * (size_t)h->changes.nr * sizeof(struct pd_pair);
	struct pd_pair *pairs = pd_budget_alloc(&h->budget, room);
	struct sorter s;

	if (!pairs)
		return -1;
	s = (struct sorter){ pairs, pairs + h->changes.nr, h->changes.nr };
	sort_by_place(h, &s);
	if (h->has_times) {
		set_times(h, &s);
		sort_pairs(&s);
	}
	permute(h, &s);
	pd_budget_free(&h->budget, pairs, room);
	return index_changes(h);
}

/* Returns whether a change is at or before the place of a moment. */
static bool is_before(const struct pd_history *h, uint32_t rank, const struct pd_moment *at)
{
	const struct pd_change *c = pd_change_at(h, rank);
	const uint64_t *inner = h->inner.items;

	if (c->offset != at->offset)
		return c->offset < at->offset;
	return !h->inner.nr || inner[rank - 1] <= at->inner;
}

/* Returns the rank of the latest change before a place in the recording. */
static uint32_t rank_at_place(const struct pd_history *h, const struct pd_moment *at)
{
	uint32_t low = 1, high = h->changes.nr + 1, found = 0;

	while (low < high) {
		const uint32_t half = low + (high - low) / 2, rank = pd_bits_last(&h->latest, half);

		if (rank == PD_NO_BIT || rank < low) {
			low = half + 1;
		} else if (is_before(h, rank, at)) {
			found = rank;
			low = half + 1;
		} else {
			high = rank;
		}
	}
	return found;
}

/* Returns whether a change, whose key is given, is at or before a moment. */
static bool is_until(const struct pd_history *h, uint64_t own, uint32_t rank, uint64_t key,
		     const struct pd_moment *at)
{
	return own < key || (own == key && is_before(h, rank, at));
}

bool pd_history_is_until(const struct pd_history *h, uint32_t rank, const struct pd_moment *at)
{
	const uint64_t key = h->has_times ? at->time : at->offset;

	return is_until(h, pd_change_key(h, pd_change_at(h, rank)), rank, key, at);
}

/* Returns how many of the keys in the index are at or before a moment. */
static uint32_t nr_keys_until(const struct pd_history *h, uint64_t key, const struct pd_moment *at)
{
	const uint64_t *keys = h->keys.items;
	uint32_t low = 0, n = h->keys.nr;

	while (n) {
		const uint32_t half = n / 2, i = low + half;

		if (is_until(h, keys[i], i * RANKS_A_KEY + 1, key, at)) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

uint32_t pd_history_rank_of(const struct pd_history *h, const struct pd_moment *at)
{
	const uint64_t key = h->has_times ? at->time : at->offset;
	uint32_t low, n;

	if (key == PD_NO_TIME && h->has_times)
		return rank_at_place(h, at);
	low = nr_keys_until(h, key, at) * RANKS_A_KEY;
	n = low ? RANKS_A_KEY : 0;
	low -= n;
	n = n < h->changes.nr - low ? n : h->changes.nr - low;
	while (n) {
		const uint32_t half = n / 2, rank = low + half + 1;

		if (is_until(h, pd_change_key(h, pd_change_at(h, rank)), rank, key, at)) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}
