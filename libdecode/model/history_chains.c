/* history_chains.c - what the callchains of two samples have in common. */
#include <string.h>

#include "model/history.h"

/* A chain, from its end on. */
struct chain {
	const struct pd_numbers *entries;
	size_t left;			/* of them, before those that both chains have */
};

/* Returns the i-th entry before those that both have. */
static uint64_t entry_before(const struct chain *c, size_t i)
{
	const struct pd_numbers *n = c->entries;
	const size_t at = c->left - 1 - i;
	uint64_t entry;

	if (n->width != sizeof(entry) || n->swapped)
		return pd_number_at(n, at);
	memcpy(&entry, n->data + at * sizeof(entry), sizeof(entry));
	return entry;
}

/* Returns whether the i-th entry before those that both have is a cookie. */
static bool is_cookie(const struct pd_history *h, const struct chain *c, size_t i)
{
	return i + 1 < c->left && entry_before(c, i + 1) == h->bits.deferred;
}

/* Returns the marker that tells the mode of the entries that both have, or 0: there is none, or
 * what looks like one may be a cookie. */
static uint64_t find_marker(const struct pd_history *h, const struct chain *c)
{
	for (size_t i = 0; i < c->left; i++) {
		const uint64_t entry = entry_before(c, i);

		if (entry >= PD_FIRST_MARKER)
			return entry == h->bits.deferred || is_cookie(h, c, i) ? 0 : entry;
	}
	return 0;
}

/* Returns whether what comes before has the same effect on the entries that both have. */
static bool begin_alike(const struct pd_history *h, const struct chain *a, const struct chain *b)
{
	uint64_t marker;

	if (!a->left || !b->left || entry_before(a, 0) >= PD_FIRST_MARKER ||
	    entry_before(b, 0) >= PD_FIRST_MARKER)
		return false;
	marker = find_marker(h, a);
	return marker && marker == find_marker(h, b);
}

size_t pd_history_common_frames(const struct pd_history *h, const struct pd_numbers *one,
				const struct pd_numbers *other, size_t *entries)
{
	size_t all = 0, from_marker = 0, unused;	/* addresses */
	struct chain a, b;

	entries = entries ? entries : &unused;
	*entries = 0;
	if (!h || !one || !other)
		return 0;
	a = (struct chain){ one, one->count };
	b = (struct chain){ other, other->count };
	while (a.left && b.left && entry_before(&a, 0) == entry_before(&b, 0)) {
		const uint64_t entry = entry_before(&a, 0);

		if (entry == h->bits.deferred)
			return *entries = 0;
		a.left--;
		b.left--;
		if (entry < PD_FIRST_MARKER) {
			all++;
			continue;
		}
		from_marker = all;
		*entries = one->count - a.left;
	}
	if ((a.left && entry_before(&a, 0) == h->bits.deferred) ||
	    (b.left && entry_before(&b, 0) == h->bits.deferred))
		return *entries = 0;
	if (!begin_alike(h, &a, &b))
		return from_marker;
	*entries = one->count - a.left;
	return all;
}
