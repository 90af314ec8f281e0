/* history_chains.c - what the callchains of two samples have in common. */
#include <string.h>

#include "model/history.h"

/* A chain, from its end on. */
struct chain {
	const struct pd_numbers *entries;
	const uint8_t *end;		/* after those left; NULL: they must be converted */
	size_t left;			/* of the entries, before those that both chains have */
};

static struct chain whole_chain(const struct pd_numbers *n)
{
	return (struct chain){ n, n->count && pd_chain_is_plain(n) ?
				  n->data + n->count * sizeof(uint64_t) : NULL, n->count };
}

static void drop_common(struct chain *c, size_t nr)
{
	c->left -= nr;
	c->end = c->end ? c->end - nr * sizeof(uint64_t) : NULL;
}

static uint64_t word_before(const uint8_t *end, size_t i)
{
	uint64_t word;

	memcpy(&word, end - (i + 1) * sizeof(word), sizeof(word));
	return word;
}

/* Returns the i-th entry before those that both have. */
static uint64_t entry_before(const struct chain *c, size_t i)
{
	return c->end ? word_before(c->end, i) : pd_number_at(c->entries, c->left - 1 - i);
}

static size_t count_common_words(const uint8_t *end, const uint8_t *other_end, size_t most)
{
	size_t n = 0;

	while (n < most && word_before(end, n) == word_before(other_end, n))
		n++;
	return n;
}

/* Returns how many entries both chains end with. */
static size_t count_common(const struct chain *a, const struct chain *b)
{
	const size_t most = a->left < b->left ? a->left : b->left;
	size_t n = 0;

	if (a->end && b->end)
		return count_common_words(a->end, b->end, most);
	while (n < most && entry_before(a, n) == entry_before(b, n))
		n++;
	return n;
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
	size_t common, markers = 0, from_marker = 0 /* addresses */, unused;
	struct chain a, b;

	entries = entries ? entries : &unused;
	*entries = 0;
	if (!h || !one || !other)
		return 0;
	a = whole_chain(one);
	b = whole_chain(other);
	common = count_common(&a, &b);
	for (size_t i = 0; i < common; i++) {
		const uint64_t entry = entry_before(&a, i);

		if (entry < PD_FIRST_MARKER)
			continue;
		if (entry == h->bits.deferred)
			return *entries = 0;
		from_marker = i - markers++;
		*entries = i + 1;
	}
	drop_common(&a, common);
	drop_common(&b, common);
	if ((a.left && entry_before(&a, 0) == h->bits.deferred) ||
	    (b.left && entry_before(&b, 0) == h->bits.deferred))
		return *entries = 0;
	if (!begin_alike(h, &a, &b))
		return from_marker;
	*entries = common;
	return common - markers;
}
