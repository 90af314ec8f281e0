/* turn.c - the stacks of a profile from the innermost function to the outermost. */
#include "merge/turn.h"

struct turning {
	struct pp_profile *p;
	struct pp_tree tree;
	uint32_t *to;		/* of each node of p->shape */
	uint32_t max_depth;
};

static bool is_above_stacks(const struct pp_profile *p, uint32_t function)
{
	const uint8_t kind = p->functions[function].kind;

	return kind == PP_KIND_EVENT || kind == PP_KIND_THREAD;
}

/* Adds the stack that ends in a node. The walk is as long as the stack of a sample. */
static uint32_t add_stack(struct turning *t, uint32_t node)
{
	const struct pp_node *nodes = t->p->shape.nodes;
	uint32_t task = node, at, depth = 0;

	while (!is_above_stacks(t->p, nodes[task].frame))
		task = nodes[task].parent;
	at = t->to[task];
	for (uint32_t i = node; i != task && at != PP_NONE; i = nodes[i].parent) {
		if (t->max_depth && depth++ >= t->max_depth)
			break;
		at = pp_tree_child(&t->tree, &t->p->memory, at, nodes[i].frame);
	}
	return at;
}

static int turn_node(struct turning *t, uint32_t i)
{
	struct pp_profile *p = t->p;
	const struct pp_node *n = &p->shape.nodes[i];

	if (is_above_stacks(p, n->frame))
		t->to[i] = pp_tree_child(&t->tree, &p->memory,
					 n->parent == PP_NONE ? PP_NONE : t->to[n->parent],
					 n->frame);
	else
		t->to[i] = n->samples ? add_stack(t, i) : t->to[n->parent];
	if (t->to[i] == PP_NONE)
		return -1;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the tree has a node by now */
	t->tree.nodes[t->to[i]].weight += n->weight;
	t->tree.nodes[t->to[i]].samples += n->samples;
	return 0;
}

int pp_turn(struct pp_profile *p, uint32_t max_depth)
{
	const size_t nr = p->shape.nr;
	struct turning t = { .p = p, .max_depth = max_depth };
	int ret = -1;

	t.to = pp_memory_zeroed(&p->memory, nr, sizeof(*t.to));
	for (uint32_t i = 0; t.to && i < nr; i++) {
		ret = turn_node(&t, i);
		if (ret)
			break;
	}
	if (t.to && !ret) {
		for (size_t i = 0; i < p->tree.nr; i++)
			p->places[i].node = t.to[p->places[i].node];
		for (size_t i = 0; i < p->nr_events; i++)
			p->events[i].merged = t.to[p->events[i].merged];
		pp_tree_free(&p->shape, &p->memory);
		p->shape = t.tree;
		p->direction = PP_FROM_LEAF;
	} else {
		pp_tree_free(&t.tree, &p->memory);
	}
	pp_memory_free(&p->memory, t.to, nr, sizeof(*t.to));
	return ret;
}

uint64_t pp_weight_in(const struct pp_profile *p, uint32_t node)
{
	const struct pp_merged *n = &p->merged[node];

	if (p->direction == PP_FROM_ROOT)
		return n->weight;
	if (is_above_stacks(p, n->function))
		return n->weight;
	return is_above_stacks(p, p->merged[n->parent].function) ? n->total_weight : 0;
}
