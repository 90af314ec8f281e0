/* totals.c - a tree of functions with totals, and children in order. */
#include "merge/totals.h"

#include <stdlib.h>

struct rank {
	uint32_t parent, node;
	uint64_t total;
};

/* By parent; the lightest child last in order, so that it is linked first. */
static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	return x->node > y->node ? -1 : x->node < y->node;
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

/* Links the children that have samples, heaviest first. */
static void link_children(struct pp_merged *nodes, size_t nr, struct rank *ranks)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		if (nodes[i].parent != PP_NONE && nodes[i].total_samples)
			ranks[n++] = (struct rank){ nodes[i].parent, (uint32_t)i,
						    nodes[i].total_weight };
	qsort(ranks, n, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < n; i++) {
		struct pp_merged *parent = &nodes[ranks[i].parent];

		nodes[ranks[i].node].next = parent->first_child;
		parent->first_child = ranks[i].node;
	}
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
