/* totals.c - a tree of functions with totals, and children in order. */
#include "merge/totals.h"

#include <stdlib.h>

struct rank {
	uint64_t total;
	uint32_t node;
};

/* The heaviest first. */
static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void sum_up(struct pp_merged *nodes, const struct pp_tree *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct pp_node *from = &t->nodes[i];

		nodes[i] = (struct pp_merged){
			.parent = from->parent, .function = from->frame, .weight = from->weight,
			.samples = from->samples, .total_weight = from->weight,
			.total_samples = from->samples, .first_child = PP_NONE, .next = PP_NONE,
		};
	}
	for (size_t i = t->nr; i--;) {
		if (nodes[i].parent == PP_NONE)
			continue;
		nodes[nodes[i].parent].total_weight += nodes[i].total_weight;
		nodes[nodes[i].parent].total_samples += nodes[i].total_samples;
	}
}

/* Puts the children of a node in order. Most nodes have one child. */
static void sort_children(struct pp_merged *nodes, struct pp_merged *parent, struct rank *ranks)
{
	uint32_t *to = &parent->first_child;
	size_t n = 0;

	if (*to == PP_NONE || nodes[*to].next == PP_NONE)
		return;
	for (uint32_t i = *to; i != PP_NONE; i = nodes[i].next)
		ranks[n++] = (struct rank){ nodes[i].total_weight, i };
	qsort(ranks, n, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < n; i++) {
		*to = ranks[i].node;
		to = &nodes[ranks[i].node].next;
	}
	*to = PP_NONE;
}

/* Links the children that have samples, heaviest first. */
static void link_children(struct pp_merged *nodes, size_t nr, struct rank *ranks)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t *first;

		if (nodes[i].parent == PP_NONE || !nodes[i].total_samples)
			continue;
		first = &nodes[nodes[i].parent].first_child;
		nodes[i].next = *first;
		*first = (uint32_t)i;
	}
	for (size_t i = 0; i < nr; i++)
		sort_children(nodes, &nodes[i], ranks);
}

struct pp_merged *pp_link(const struct pp_tree *t, struct pp_memory *m)
{
	struct pp_merged *nodes = pp_memory_zeroed(m, t->nr, sizeof(*nodes));
	struct rank *ranks = nodes ? pp_memory_zeroed(m, t->nr, sizeof(*ranks)) : NULL;

	if (!ranks) {
		pp_memory_free(m, nodes, t->nr, sizeof(*nodes));
		return NULL;
	}
	sum_up(nodes, t);
	link_children(nodes, t->nr, ranks);
	pp_memory_free(m, ranks, t->nr, sizeof(*ranks));
	return nodes;
}
