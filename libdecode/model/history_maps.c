/* history_maps.c - the maps of a space over time.
 *
 * A map ends what it overlaps; what is left of that on both sides begins at the same rank. So each
 * piece is a rectangle of addresses and ranks, and no two of a space overlap. The addresses where
 * maps begin or end cut the address space into cells, numbered from 1.
 *
 * Where no piece has ended, the pieces are ordered by address. Otherwise they are in the nodes of
 * an interval tree over the cells: a piece is in the node of the cell number, among its own, that
 * is divisible by the largest power of 2. All pieces of a node contain that cell, so they follow
 * each other in time: a node is an array ordered by rank.
 */
#include "model/history.h"

#include <string.h>

#include "model/history_bits.h"
#include "model/history_sort.h"

#define MAX_CHAIN 32

/* A map to be replayed, or a part of one that a child got from its parent. */
struct input {
	uint32_t map, from;		/* from: rank */
	uint32_t first, last;		/* coordinates; last: exclusive */
};

struct part {
	uint64_t start, end;
};

/* A live piece, by the coordinate where it starts. */
struct live {
	uint32_t piece, last;
};

struct pd_map_builder {
	struct pd_history *h;
	struct pd_array inputs, copies;	/* struct input; struct part: of the first inputs */
	struct pd_array pairs, live, sorted;
	struct pd_bit_tree starts;	/* coordinates where live pieces start */
	uint32_t first_coord, nr_coords;	/* in h->coords */
	uint32_t first_piece, nr_ended;
};

struct pd_map_builder *pd_map_builder_new(struct pd_history *h)
{
	struct pd_map_builder *b = pd_budget_alloc(&h->budget, sizeof(*b));

	if (!b)
		return NULL;
	b->h = h;
	b->inputs = (struct pd_array){ &h->budget, .width = sizeof(struct input) };
	b->copies = (struct pd_array){ &h->budget, .width = sizeof(struct part) };
	b->pairs = (struct pd_array){ &h->budget, .width = sizeof(struct pd_pair) };
	b->live = (struct pd_array){ &h->budget, .width = sizeof(struct live) };
	b->sorted = (struct pd_array){ &h->budget, .width = sizeof(struct pd_map_piece) };
	b->starts.words = (struct pd_array){ &h->budget, .width = sizeof(uint64_t) };
	return b;
}

void pd_map_builder_free(struct pd_map_builder *b)
{
	if (!b)
		return;
	pd_array_free(&b->inputs);
	pd_array_free(&b->copies);
	pd_array_free(&b->pairs);
	pd_array_free(&b->live);
	pd_array_free(&b->sorted);
	pd_array_free(&b->starts.words);
	pd_budget_free(&b->h->budget, b, sizeof(*b));
}

static int add_input(struct pd_map_builder *b, uint32_t map, uint32_t from)
{
	struct input *in = pd_array_add(&b->inputs, 1);

	if (!in)
		return -1;
	*in = (struct input){ .map = map, .from = from };
	return 0;
}

static int copy_live(struct pd_map_builder *b, uint32_t from, const struct pd_space *s,
		     uint32_t rank)
{
	struct pd_history *h = b->h;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct pd_map_piece *p = pd_map_piece_at(h, pd_first_piece(h, s) + i);
		struct part *part;

		h->copied++;
		if (p->from > rank || p->until <= rank)
			continue;
		part = pd_array_add(&b->copies, 1);
		if (!part || add_input(b, p->map, from))
			return -1;
		*part = (struct part){ p->start, p->end };
	}
	return 0;
}

int pd_map_builder_copy(struct pd_map_builder *b, uint32_t from, uint32_t space, uint32_t rank)
{
	struct {
		const struct pd_space *space;
		uint32_t rank;
	} chain[MAX_CHAIN];
	size_t n = 0;

	while (space != PD_NOTHING && n < MAX_CHAIN) {
		const struct pd_space *s = pd_space_at(b->h, space);

		chain[n].space = s;
		chain[n++].rank = rank;
		space = s->parent;
		rank = s->parent_rank;
	}
	while (n--)	/* the nearest last: it hides the others */
		if (copy_live(b, from, chain[n].space, chain[n].rank))
			return -1;
	return 0;
}

static struct part part_of(const struct pd_map_builder *b, uint32_t i)
{
	const struct input *in = (const struct input *)b->inputs.items + i;
	const struct pd_learned_map *m = pd_map_at(b->h, in->map);

	if (i < b->copies.nr)
		return ((const struct part *)b->copies.items)[i];
	return (struct part){ m->start, pd_map_end(m) };
}

/* Adds the maps of the space, except empty ones. */
static int take_maps(struct pd_map_builder *b, const struct pd_space *s)
{
	const uint32_t *maps = b->h->space_maps.items;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct pd_learned_map *m = pd_map_at(b->h, maps[s->first + i]);

		if (m->start < pd_map_end(m) && add_input(b, maps[s->first + i], m->rank))
			return -1;
	}
	return 0;
}

static struct pd_map_piece *add_piece(struct pd_map_builder *b, uint32_t map, struct part part,
				  uint32_t from)
{
	struct pd_map_piece *p = pd_array_add(&b->h->pieces, 1);

	if (p)
		*p = (struct pd_map_piece){ .start = part.start, .end = part.end, .from = from,
					.until = PD_NOTHING, .map = map };
	return p;
}

/* Makes the pieces of maps that do not overlap. Returns 1, 0 if they do, -1 without memory. */
static int build_apart(struct pd_map_builder *b)
{
	const uint32_t n = b->inputs.nr;
	struct pd_pair *pairs = pd_array_reset(&b->pairs, 2 * n);
	uint64_t end = 0;

	if (!pairs)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		pairs[i] = (struct pd_pair){ part_of(b, i).start, i };
	pairs = pd_pairs_sort(pairs, pairs + n, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct part part = part_of(b, pairs[i].value);

		if (part.start < end)
			return 0;
		end = part.end;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct input *in = (const struct input *)b->inputs.items + pairs[i].value;

		if (!add_piece(b, in->map, part_of(b, pairs[i].value), in->from))
			return -1;
	}
	return 1;
}

/* Numbers the coordinates and sets those of the inputs. */
static int number_coords(struct pd_map_builder *b)
{
	const uint32_t n = b->inputs.nr;
	struct pd_pair *pairs = n < UINT32_MAX / 4 ? pd_array_reset(&b->pairs, 4 * n) : NULL;
	struct input *inputs = b->inputs.items;

	if (!pairs)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const struct part part = part_of(b, i);

		pairs[2 * i] = (struct pd_pair){ part.start, 2 * i };
		pairs[2 * i + 1] = (struct pd_pair){ part.end, 2 * i + 1 };
	}
	pairs = pd_pairs_sort(pairs, pairs + 2 * n, 2 * n);
	b->first_coord = b->h->coords.nr;
	for (uint32_t i = 0; i < 2 * n; i++) {
		struct input *in = &inputs[pairs[i].value / 2];
		uint64_t *coord;

		if (!i || pairs[i].key != pairs[i - 1].key) {
			coord = pd_array_add(&b->h->coords, 1);
			if (!coord)
				return -1;
			*coord = pairs[i].key;
		}
		b->nr_coords = b->h->coords.nr - b->first_coord;
		*(pairs[i].value % 2 ? &in->last : &in->first) = b->nr_coords - 1;
	}
	return 0;
}

/* Returns the node of the cells between two coordinates: see above. */
static uint32_t node_of(uint32_t first, uint32_t last)
{
	const unsigned int bit = 31 - (unsigned int)__builtin_clz(first ^ last);

	return last >> bit << bit;
}

static int begin_piece(struct pd_map_builder *b, uint32_t map, uint32_t first, uint32_t last,
		       uint32_t from)
{
	const uint64_t *coords = (const uint64_t *)b->h->coords.items + b->first_coord;
	struct pd_map_piece *p =
		add_piece(b, map, (struct part){ coords[first], coords[last] }, from);

	if (!p)
		return -1;
	p->node = node_of(first, last);
	((struct live *)b->live.items)[first] = (struct live){ b->h->pieces.nr - 1, last };
	pd_bits_set(&b->starts, first);
	return 0;
}

/* Ends the live piece that starts at a coordinate, and begins what is left of it outside of the
 * coordinates from s to e. */
static int cut_piece(struct pd_map_builder *b, uint32_t start, uint32_t s, uint32_t e,
		     uint32_t rank)
{
	const struct live l = ((const struct live *)b->live.items)[start];
	struct pd_map_piece *p = pd_map_piece_at(b->h, l.piece);
	const uint32_t map = p->map;

	p->until = rank;
	b->nr_ended++;
	pd_bits_clear(&b->starts, start);
	if (start < s && begin_piece(b, map, start, s, rank))
		return -1;
	if (l.last > e && !(pd_map_at(b->h, map)->is & PD_MAP_OPEN))
		return begin_piece(b, map, e, l.last, rank);
	return 0;
}

/* Returns whether the same is mapped there already: several events may have recorded the map. */
static bool is_mapped(const struct pd_map_builder *b, const struct input *in)
{
	const uint32_t at = pd_bits_last(&b->starts, in->first);
	const struct pd_learned_map *m = pd_map_at(b->h, in->map), *old;
	const struct live *l;

	if (at != in->first)
		return false;
	l = &((const struct live *)b->live.items)[at];
	old = pd_map_at(b->h, pd_map_piece_at(b->h, l->piece)->map);
	return l->last == in->last && old->image == m->image && old->start == m->start &&
	       old->pgoff == m->pgoff && old->prot == m->prot && old->flags == m->flags &&
	       old->is == m->is;
}

static int replay_input(struct pd_map_builder *b, const struct input *in)
{
	const struct live *live = b->live.items;
	uint32_t last = in->last, at;

	if (is_mapped(b, in))
		return 0;
	if (pd_map_at(b->h, in->map)->is & PD_MAP_OPEN) {
		at = pd_bits_next(&b->starts, in->first + 1);
		last = at < last ? at : last;
	}
	at = in->first ? pd_bits_last(&b->starts, in->first - 1) : PD_NO_BIT;
	if (at != PD_NO_BIT && live[at].last > in->first &&
	    cut_piece(b, at, in->first, last, in->from))
		return -1;
	for (at = pd_bits_next(&b->starts, in->first); at < last;
	     at = pd_bits_next(&b->starts, at + 1))
		if (cut_piece(b, at, in->first, last, in->from))
			return -1;
	return begin_piece(b, in->map, in->first, last, in->from);
}

/* Orders the pieces by address, as none has ended. */
static int order_by_address(struct pd_map_builder *b)
{
	const struct live *live = b->live.items;
	struct pd_map_piece *sorted = pd_array_reset(&b->sorted, b->h->pieces.nr - b->first_piece);
	uint32_t n = 0;

	if (!sorted)
		return -1;
	for (uint32_t at = pd_bits_next(&b->starts, 0); at != PD_NO_BIT;
	     at = pd_bits_next(&b->starts, at + 1))
		sorted[n++] = *pd_map_piece_at(b->h, live[at].piece);
	memcpy(pd_map_piece_at(b->h, b->first_piece), sorted, n * sizeof(*sorted));
	b->h->pieces.nr = b->first_piece + n;
	return 0;
}

/* Orders the pieces by node; those of a node stay in the order of their ranks. */
static int order_by_node(struct pd_map_builder *b, struct pd_space *s)
{
	struct pd_history *h = b->h;
	const uint32_t n = h->pieces.nr - b->first_piece, first_node = h->nodes.nr;
	struct pd_map_piece *pieces = pd_map_piece_at(h, b->first_piece);
	struct pd_map_piece *sorted = pd_array_reset(&b->sorted, n);
	struct pd_space_tree *tree = pd_array_add(&h->trees, 1);
	uint32_t *nodes = pd_array_add(&h->nodes, b->nr_coords + 1), kept = 0;

	if (!sorted || !tree || !nodes)
		return -1;
	*tree = (struct pd_space_tree){ b->first_piece, b->first_coord, b->nr_coords, first_node };
	s->flags |= PD_SPACE_TREE;
	s->first = h->trees.nr - 1;
	for (uint32_t i = 0; i < n; i++)
		if (pieces[i].from < pieces[i].until)
			nodes[pieces[i].node + 1]++;
	for (uint32_t i = 0; i < b->nr_coords; i++)
		nodes[i + 1] += nodes[i];
	for (uint32_t i = 0; i < n; i++) {
		if (pieces[i].from < pieces[i].until) {
			sorted[nodes[pieces[i].node]++] = pieces[i];
			kept++;
		}
	}
	/* ends are the next's starts */
	memmove(nodes + 1, nodes, b->nr_coords * sizeof(*nodes));
	nodes[0] = 0;
	memcpy(pieces, sorted, kept * sizeof(*sorted));
	h->pieces.nr = b->first_piece + kept;
	return 0;
}

static int build_overlapping(struct pd_map_builder *b, struct pd_space *s)
{
	const struct input *inputs = b->inputs.items;

	if (number_coords(b) || pd_bits_reset(&b->starts, b->nr_coords) ||
	    !pd_array_reset(&b->live, b->nr_coords))
		return -1;
	for (uint32_t i = 0; i < b->inputs.nr; i++)
		if (replay_input(b, &inputs[i]))
			return -1;
	if (b->nr_ended)
		return order_by_node(b, s);
	b->h->coords.nr = b->first_coord;
	return order_by_address(b);
}

/* Sets until when the maps of the space have pieces, and when the last of these begins. */
static void end_maps(const struct pd_map_builder *b, struct pd_space *s)
{
	const struct pd_history *h = b->h;

	for (uint32_t i = b->copies.nr; i < b->inputs.nr; i++) {
		struct pd_learned_map *m =
			pd_map_at(h, ((const struct input *)b->inputs.items)[i].map);

		m->until = m->rank;
	}
	for (uint32_t i = b->first_piece; i < h->pieces.nr; i++) {
		const struct pd_map_piece *p = pd_map_piece_at(h, i);
		struct pd_learned_map *m = pd_map_at(h, p->map);

		s->last_change = p->from > s->last_change ? p->from : s->last_change;
		if (m->rank >= s->from && p->until > m->until)	/* not a parent's */
			m->until = p->until;
	}
}

int pd_map_builder_build(struct pd_map_builder *b, struct pd_space *s)
{
	int ret;

	b->first_piece = b->h->pieces.nr;
	b->nr_ended = 0;
	ret = take_maps(b, s);
	if (!ret && b->inputs.nr) {
		s->own_from = ((const struct input *)b->inputs.items)->from;
		ret = build_apart(b);
		ret = ret ? (ret < 0 ? -1 : 0) : build_overlapping(b, s);
		if (!ret)
			end_maps(b, s);
	}
	if (!(s->flags & PD_SPACE_TREE))
		s->first = b->first_piece;
	s->count = b->h->pieces.nr - b->first_piece;
	b->inputs.nr = b->copies.nr = 0;
	return ret;
}

/* Returns the piece of those ordered by address. */
static const struct pd_map_piece *
find_by_address(const struct pd_history *h, const struct pd_space *s, uint64_t addr, uint32_t rank)
{
	const struct pd_map_piece *pieces = s->count ? pd_map_piece_at(h, s->first) : NULL;
	uint32_t low = 0, n = s->count;

	while (n) {
		const uint32_t half = n / 2;

		if (pieces[low + half].start <= addr) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	if (!low || addr >= pieces[low - 1].end || pieces[low - 1].from > rank)
		return NULL;
	return &pieces[low - 1];
}

/* Returns the cell of an address, or 0: before the first coordinate. */
static uint32_t cell_of(const uint64_t *coords, uint32_t n, uint64_t addr)
{
	uint32_t low = 0;

	while (n) {
		const uint32_t half = n / 2;

		if (coords[low + half] <= addr) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

/* Returns the last of n pieces that begin at or before a rank, if it holds the address then. */
static const struct pd_map_piece *find_by_rank(const struct pd_map_piece *pieces, uint32_t n,
					   uint64_t addr, uint32_t rank)
{
	uint32_t low = 0;

	while (n) {
		const uint32_t half = n / 2;

		if (pieces[low + half].from <= rank) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	if (!low || pieces[low - 1].until <= rank || addr < pieces[low - 1].start ||
	    addr >= pieces[low - 1].end)
		return NULL;
	return &pieces[low - 1];
}

static const struct pd_map_piece *find_in_tree(const struct pd_history *h, const struct pd_space *s,
					   uint64_t addr, uint32_t rank)
{
	const struct pd_space_tree *t = (const struct pd_space_tree *)h->trees.items + s->first;
	const uint32_t *nodes = (const uint32_t *)h->nodes.items + t->first_node;
	const uint32_t cell =
		cell_of((const uint64_t *)h->coords.items + t->first_coord, t->nr_coords, addr);

	if (!cell)
		return NULL;
	for (unsigned int bit = (unsigned int)__builtin_ctz(cell); bit < 32; bit++) {
		const uint64_t node = ((uint64_t)cell >> bit | 1) << bit;
		const struct pd_map_piece *p;

		if (node >= t->nr_coords) {
			if (UINT64_C(1) << bit >= t->nr_coords)
				break;
			continue;
		}
		p = find_by_rank(pd_map_piece_at(h, t->first_piece + nodes[node]),
				 nodes[node + 1] - nodes[node], addr, rank);
		if (p)
			return p;
	}
	return NULL;
}

const struct pd_map_piece *pd_history_find_piece(const struct pd_history *h, uint32_t space,
					     uint64_t addr, uint32_t rank)
{
	while (space != PD_NOTHING) {
		const struct pd_space *s = pd_space_at(h, space);
		const struct pd_map_piece *p = s->flags & PD_SPACE_TREE ?
						   find_in_tree(h, s, addr, rank) :
						   find_by_address(h, s, addr, rank);

		if (p)
			return p;
		if (s->parent_rank < rank)
			rank = s->parent_rank;
		space = s->parent;
	}
	return NULL;
}
