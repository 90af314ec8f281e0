/* history_order.c - orders the changes by time. One without a time has that of the latest change
 * before it in the recording: it came after that, and about then. */
#include "model/history.h"
#include "model/history_sort.h"

struct sorter {
	struct pd_pair *pairs, *other;	/* the values: changes */
	uint32_t n;
};

static void sort_pairs(struct sorter *s)
{
	struct pd_pair *sorted = pd_pairs_sort(s->pairs, s->other, s->n);

	if (sorted == s->pairs)
		return;
	s->other = s->pairs;
	s->pairs = sorted;
}

/* Orders the changes by where they are in the recording. Most were learned in that order. */
static void sort_by_place(const struct pd_history *h, struct sorter *s)
{
	const struct pd_change *changes = h->changes.items;

	for (uint32_t i = 0; i < s->n; i++)
		s->pairs[i] = (struct pd_pair){ changes[i].inner, i };
	sort_pairs(s);
	for (uint32_t i = 0; i < s->n; i++)
		s->pairs[i].key = changes[s->pairs[i].value].offset;
	sort_pairs(s);
}

/* Sets the keys to times, and lists the changes whose time is the latest so far. Records that were
 * synthesized for what existed before have the time 0. */
static int set_times(struct pd_history *h, struct sorter *s)
{
	const struct pd_change *changes = h->changes.items;
	uint64_t latest = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		struct pd_pair *p = &s->pairs[i];
		const uint64_t time = changes[p->value].time;
		uint32_t *change;

		p->key = time == PD_NO_TIME ? latest : time;
		if (p->key < latest)
			continue;
		latest = p->key;
		change = pd_array_add(&h->latest, 1);
		if (!change)
			return -1;
		*change = p->value;
	}
	return 0;
}

static int fill_in(struct pd_history *h, const struct sorter *s)
{
	const struct pd_change *changes = h->changes.items;
	uint64_t *keys = pd_array_reset(&h->keys, s->n);
	uint32_t *order = pd_array_reset(&h->order, s->n), *latest = h->latest.items;
	uint32_t *ranks = (uint32_t *)(void *)s->other;

	if (s->n && (!keys || !order))
		return -1;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct pd_change *c = &changes[s->pairs[i].value];

		keys[i] = s->pairs[i].key;
		order[i] = s->pairs[i].value;
		ranks[s->pairs[i].value] = i + 1;
		if (c->kind == PD_CHANGE_MAP)
			pd_map_at(h, c->item)->rank = i + 1;
	}
	for (uint32_t i = 0; i < h->latest.nr; i++)
		latest[i] = ranks[latest[i]];
	return 0;
}

int pd_history_order_changes(struct pd_history *h)
{
	const size_t room = 2 * (size_t)h->changes.nr * sizeof(struct pd_pair);
	struct pd_pair *pairs = pd_budget_alloc(&h->budget, room);
	struct sorter s = { pairs, pairs + h->changes.nr, h->changes.nr };
	int ret;

	if (!pairs)
		return -1;
	sort_by_place(h, &s);
	ret = h->has_times ? set_times(h, &s) : 0;
	if (!ret) {
		sort_pairs(&s);
		ret = fill_in(h, &s);
	}
	pd_budget_free(&h->budget, pairs, room);
	return ret;
}

/* Returns whether a change is at or before the place of a moment. */
static bool is_before(const struct pd_change *c, const struct pd_moment *at)
{
	return c->offset < at->offset || (c->offset == at->offset && c->inner <= at->inner);
}

/* Returns the rank of the latest change before a place in the recording. */
static uint32_t rank_at_place(const struct pd_history *h, const struct pd_moment *at)
{
	const uint32_t *latest = h->latest.items;
	uint32_t low = 0, n = h->latest.nr;

	while (n) {
		const uint32_t half = n / 2;

		if (is_before(pd_change_at(h, latest[low + half]), at)) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low ? latest[low - 1] : 0;
}

uint32_t pd_history_rank_of(const struct pd_history *h, const struct pd_moment *at)
{
	const uint64_t *keys = h->keys.items, key = h->has_times ? at->time : at->offset;
	uint32_t low = 0, n = h->keys.nr;

	if (key == PD_NO_TIME && h->has_times)
		return rank_at_place(h, at);
	while (n) {
		const uint32_t half = n / 2, i = low + half;

		if (keys[i] < key || (keys[i] == key && is_before(pd_change_at(h, i + 1), at))) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}
