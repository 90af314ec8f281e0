/* small.c - stacks that are too light to show, as one frame "[small]" below their callers. */
#include "merge/small.h"

struct joining {
	struct pp_profile *p;
	struct pp_tree tree;
	uint64_t *totals;	/* of each node of p->shape: its weight, and all below */
	uint64_t *all;		/* of each node: that of its event */
	uint32_t *to;		/* of each node: its place in `tree` */
	uint32_t function;	/* "[small]" */
	double percent;
};

/* Parents come before their children. */
static void sum_up(struct joining *j)
{
	const struct pp_tree *shape = &j->p->shape;

	for (size_t i = shape->nr; i--;) {
		j->totals[i] += shape->nodes[i].weight;
		if (shape->nodes[i].parent != PP_NONE)
			j->totals[shape->nodes[i].parent] += j->totals[i];
	}
	for (size_t i = 0; i < shape->nr; i++)
		j->all[i] = shape->nodes[i].parent == PP_NONE ? j->totals[i] :
								j->all[shape->nodes[i].parent];
}

static bool is_small(const struct joining *j, uint32_t i)
{
	return 100.0 * (double)j->totals[i] < j->percent * (double)j->all[i];
}

/* All that is below a small node is in its frame. */
static int join_node(struct joining *j, uint32_t i)
{
	const struct pp_node *n = &j->p->shape.nodes[i];
	const uint32_t parent = n->parent == PP_NONE ? PP_NONE : j->to[n->parent];

	if (parent != PP_NONE && is_small(j, n->parent))
		j->to[i] = parent;
	else
		j->to[i] = pp_tree_child(&j->tree, &j->p->memory, parent,
					 parent != PP_NONE && is_small(j, i) ? j->function :
									       n->frame);
	if (j->to[i] == PP_NONE)
		return -1;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the tree has a node by now */
	j->tree.nodes[j->to[i]].weight += n->weight;
	j->tree.nodes[j->to[i]].samples += n->samples;
	return 0;
}

static int join_nodes(struct joining *j)
{
	struct pp_profile *p = j->p;
	const size_t nr = p->shape.nr;

	if (!j->totals || !j->all || !j->to)
		return -1;
	sum_up(j);
	for (uint32_t i = 0; i < nr; i++)
		if (join_node(j, i))
			return -1;
	for (size_t i = 0; i < p->tree.nr; i++)
		p->places[i].node = j->to[p->places[i].node];
	for (size_t i = 0; i < p->nr_events; i++)
		p->events[i].merged = j->to[p->events[i].merged];
	return 0;
}

int pp_join_small(struct pp_profile *p, double percent, uint32_t function)
{
	const size_t nr = p->shape.nr;
	struct pp_memory *m = &p->memory;
	struct joining j = { .p = p, .function = function, .percent = percent };
	int ret;

	j.totals = pp_memory_zeroed(m, nr, sizeof(*j.totals));
	j.all = pp_memory_zeroed(m, nr, sizeof(*j.all));
	j.to = pp_memory_zeroed(m, nr, sizeof(*j.to));
	ret = join_nodes(&j);
	pp_tree_free(ret ? &j.tree : &p->shape, m);
	if (!ret)
		p->shape = j.tree;
	pp_memory_free(m, j.totals, nr, sizeof(*j.totals));
	pp_memory_free(m, j.all, nr, sizeof(*j.all));
	pp_memory_free(m, j.to, nr, sizeof(*j.to));
	return ret;
}
