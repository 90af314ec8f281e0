/* history_ranges.c - what is mapped now: see history_ranges.h.
 *
 * A treap by address whose nodes are shared between its copies: a node with more than one reference
 * is replaced by a copy of its own before it changes.
 */
#include "model/history_ranges.h"

#define MAX_COPIES 8	/* anonymous maps over each other, to find the file below */

struct pd_mapped {
	struct pd_mapped *left, *right;
	struct pd_mapped *below;	/* what a copy of text has replaced */
	struct pd_live_map *map;
	uint64_t start, end;
	uint32_t priority, refs;
	uint8_t depth, deepest;		/* of `below`; the largest of the subtree */
};

static void release_map(struct pd_range_pool *p, struct pd_live_map *m)
{
	if (m && !--m->refs)
		pd_budget_free(p->budget, m, sizeof(*m));
}

struct pd_mapped *pd_ranges_share(struct pd_mapped *n)
{
	if (n)
		n->refs++;
	return n;
}

void pd_ranges_free(struct pd_range_pool *p, struct pd_mapped *n)
{
	if (!n || --n->refs)
		return;
	pd_ranges_free(p, n->left);
	pd_ranges_free(p, n->right);
	pd_ranges_free(p, n->below);
	release_map(p, n->map);
	pd_budget_free(p->budget, n, sizeof(*n));
}

static struct pd_mapped *new_node(struct pd_range_pool *p)
{
	struct pd_mapped *n = pd_budget_alloc(p->budget, sizeof(*n));

	if (!n)
		p->is_full = true;
	else
		n->refs = 1;
	return n;
}

/* Returns the node if nothing else refers to it, else a copy; NULL without memory. */
static struct pd_mapped *own_node(struct pd_range_pool *p, struct pd_mapped *n)
{
	struct pd_mapped *copy;

	if (!n || n->refs == 1)
		return n;
	copy = new_node(p);
	if (copy) {
		*copy = *n;
		copy->refs = 1;
		pd_ranges_share(copy->left);
		pd_ranges_share(copy->right);
		pd_ranges_share(copy->below);
		copy->map->refs++;
	}
	pd_ranges_free(p, n);
	return copy;
}

static uint8_t larger(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

static uint8_t deepest_of(const struct pd_mapped *n)
{
	return n ? n->deepest : 0;
}

static struct pd_mapped *update_node(struct pd_mapped *n)
{
	n->deepest = larger(n->depth, larger(deepest_of(n->left), deepest_of(n->right)));
	return n;
}

/* Splits by where ranges start: below `key`, and from it on. */
static void split_ranges(struct pd_range_pool *p, struct pd_mapped *n, uint64_t key,
			 struct pd_mapped **low, struct pd_mapped **high)
{
	*low = *high = NULL;
	n = own_node(p, n);
	if (!n)
		return;
	if (n->start < key) {
		split_ranges(p, n->right, key, &n->right, high);
		*low = update_node(n);
	} else {
		split_ranges(p, n->left, key, low, &n->left);
		*high = update_node(n);
	}
}

/* Joins two sets, the first of which is below the second. */
static struct pd_mapped *join(struct pd_range_pool *p, struct pd_mapped *low,
			      struct pd_mapped *high)
{
	if (!low || !high)
		return low ? low : high;
	if (low->priority >= high->priority) {
		low = own_node(p, low);
		if (!low)
			return high;
		low->right = join(p, low->right, high);
		return update_node(low);
	}
	high = own_node(p, high);
	if (!high)
		return low;
	high->left = join(p, low, high->left);
	return update_node(high);
}

static const struct pd_mapped *last_of(const struct pd_mapped *n)
{
	while (n && n->right)
		n = n->right;
	return n;
}

static uint32_t draw(struct pd_range_pool *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (uint32_t)(p->random >> 32);
}

/* Returns a range of its own with the map of another one. */
static struct pd_mapped *piece_of(struct pd_range_pool *p, const struct pd_mapped *of,
				  uint64_t start, uint64_t end)
{
	struct pd_mapped *n = new_node(p);

	if (!n)
		return NULL;
	n->start = start;
	n->end = end;
	n->priority = draw(p);
	n->map = of->map;
	n->map->refs++;
	n->below = pd_ranges_share(of->below);
	n->depth = n->deepest = of->depth;
	return n;
}

/* Cuts what lies at or after an address off the last range of a set. Returns the part at or after
 * `end`, or NULL. The part between them is added to *below, if that is wanted. */
static struct pd_mapped *cut_last(struct pd_range_pool *p, struct pd_mapped **set, uint64_t at,
				  uint64_t end)
{
	const struct pd_mapped *last = last_of(*set);
	struct pd_mapped *rest, *whole, *tail = NULL;

	if (!last || last->end <= at)
		return NULL;
	split_ranges(p, *set, last->start, &rest, &whole);
	if (whole && whole->end > end && !(whole->map->map.is & PD_MAP_OPEN))
		tail = piece_of(p, whole, end, whole->end);
	if (whole && whole->start < at)
		rest = join(p, rest, piece_of(p, whole, whole->start, at));
	pd_ranges_free(p, whole);
	*set = rest;
	return tail;
}

/* Returns a range for a map, above what it replaces, which is taken over. */
static struct pd_mapped *new_range(struct pd_range_pool *p, const struct pd_learned_map *m,
				   uint64_t end, struct pd_mapped *below)
{
	struct pd_live_map *map = pd_budget_alloc(p->budget, sizeof(*map));
	struct pd_mapped *n = map ? new_node(p) : NULL;

	if (!n || !(m->is & PD_MAP_COPY) || deepest_of(below) >= MAX_COPIES) {
		pd_ranges_free(p, below);
		below = NULL;
	}
	if (!n) {
		p->is_full = true;
		pd_budget_free(p->budget, map, sizeof(*map));
		return NULL;
	}
	*map = (struct pd_live_map){ *m, 1 };
	n->map = map;
	n->start = m->start;
	n->end = end;
	n->priority = draw(p);
	n->below = below;
	n->depth = below ? (uint8_t)(deepest_of(below) + 1) : 0;
	return update_node(n);
}

/* Several events may have recorded the same map. */
static bool is_mapped(const struct pd_mapped *n, const struct pd_learned_map *m, uint64_t end)
{
	const struct pd_learned_map *old = n ? &n->map->map : NULL;

	return n && n->start == m->start && n->end == end && old->image == m->image &&
	       old->start == m->start && old->pgoff == m->pgoff && old->prot == m->prot &&
	       old->flags == m->flags && old->is == m->is;
}

static const struct pd_mapped *find_node(const struct pd_mapped *n, uint64_t addr)
{
	const struct pd_mapped *best = NULL;

	while (n) {
		if (n->start <= addr)
			best = n;
		n = n->start <= addr ? n->right : n->left;
	}
	return best && addr < best->end ? best : NULL;
}

/* Returns where the first range after an address starts. */
static uint64_t next_start(const struct pd_mapped *n, uint64_t addr)
{
	uint64_t next = UINT64_MAX;

	while (n) {
		if (n->start > addr)
			next = n->start;
		n = n->start > addr ? n->left : n->right;
	}
	return next;
}

struct pd_mapped *pd_ranges_map(struct pd_range_pool *p, struct pd_mapped *root,
				const struct pd_learned_map *m)
{
	const uint64_t end = m->is & PD_MAP_OPEN ? next_start(root, m->start) : pd_map_end(m);
	struct pd_mapped *low, *inside, *high, *tail, *below = NULL, *range = NULL;
	const struct pd_mapped *under;

	if (m->start >= end || is_mapped(find_node(root, m->start), m, end))
		return root;
	split_ranges(p, root, m->start, &low, &inside);
	split_ranges(p, inside, end, &inside, &high);
	if (m->is & PD_MAP_COPY) {
		under = last_of(low);
		if (under && under->end > m->start)
			below = piece_of(p, under, m->start, under->end);
		below = join(p, below, pd_ranges_share(inside));
	}
	tail = cut_last(p, &low, m->start, end);
	tail = tail ? tail : cut_last(p, &inside, end, end);
	pd_ranges_free(p, inside);
	if (!(m->is & PD_MAP_END))
		range = new_range(p, m, end, below);
	return join(p, join(p, low, range), join(p, tail, high));
}

const struct pd_learned_map *pd_ranges_find(const struct pd_mapped *root, uint64_t addr)
{
	const struct pd_mapped *n = find_node(root, addr);

	return n ? &n->map->map : NULL;
}

const struct pd_learned_map *pd_ranges_find_original(const struct pd_history *h,
						     const struct pd_mapped *root, uint64_t addr)
{
	const struct pd_mapped *n = find_node(root, addr);

	while (n && n->map->map.is & PD_MAP_COPY)
		n = find_node(n->below, addr);
	return n && !(n->map->map.is & PD_MAP_DATA) &&
			       pd_image_at(h, n->map->map.image)->kind <= PD_IMAGE_DELETED ?
		       &n->map->map : NULL;
}

bool pd_ranges_overlap(const struct pd_mapped *root, const struct pd_learned_map *m)
{
	return find_node(root, m->start) || next_start(root, m->start) < pd_map_end(m);
}
