/* graphs.c - the calls below each line of a table. */
#include "table/graphs.h"

#include <string.h>

#include "table/branches.h"
#include "merge/totals.h"

enum { MIN_PERMYRIAD = 50, INDENT = 10 };

int pp_graphs_make(struct pp_graphs *g, struct pp_out *out, const struct pp_lines *lines)
{
	struct pp_memory *m = &out->p->memory;
	const size_t nr = out->p->nr_merged;

	g->lines = lines;
	g->is_of_many = lines->keys[0] != PP_KEY_NONE;
	for (size_t i = 0; i < PP_NR_KEYS && lines->keys[i] != PP_KEY_NONE; i++)
		g->is_of_many &= lines->keys[i] != PP_KEY_SYMBOL;
	g->first = pp_memory_zeroed(m, lines->nr, sizeof(*g->first));
	g->next = pp_memory_zeroed(m, nr, sizeof(*g->next));
	g->place = pp_memory_zeroed(m, nr, sizeof(*g->place));
	if (!g->first || !g->next || !g->place)
		return -1;
	memset(g->first, 0xff, lines->nr * sizeof(*g->first));
	for (uint32_t i = out->p->events[out->o.event].merged; i != PP_NONE;
	     i = pp_next_below(out->p, out->p->events[out->o.event].merged, i)) {
		const uint32_t line = lines->of_node[i];

		if (line == PP_NONE)
			continue;
		g->next[i] = g->first[line];
		g->first[line] = i;
	}
	return 0;
}

void pp_graphs_free(struct pp_graphs *g, struct pp_out *out)
{
	struct pp_memory *m = &out->p->memory;

	pp_memory_free(m, g->first, g->lines ? g->lines->nr : 0, sizeof(*g->first));
	pp_memory_free(m, g->next, out->p->nr_merged, sizeof(*g->next));
	pp_memory_free(m, g->place, out->p->nr_merged, sizeof(*g->place));
}

static bool is_function(const struct pp_profile *p, uint32_t node)
{
	const uint8_t kind = p->functions[p->merged[node].function].kind;

	return kind != PP_KIND_THREAD && kind != PP_KIND_EVENT;
}

/* A function that calls itself counts once in totals: from its outermost call. */
static bool is_outermost(const struct pp_graphs *g, const struct pp_profile *p, uint32_t node)
{
	const uint32_t line = g->lines->of_node[node];

	for (uint32_t at = p->merged[node].parent; at != PP_NONE; at = p->merged[at].parent)
		if (g->lines->of_node[at] == line)
			return false;
	return true;
}

/* Adds who calls a node, with what its line counts. Returns 0, or -1 without memory. */
static int add_callers(const struct pp_graphs *g, struct pp_tree *t, struct pp_out *out,
		       uint32_t node)
{
	const struct pp_profile *p = out->p;
	const struct pp_merged *n = &p->merged[node];
	const bool is_self = out->o.sort == PP_SORT_SELF;
	uint32_t place = 0;

	for (uint32_t at = g->is_of_many ? node : n->parent;
	     at != PP_NONE && is_function(p, at) && place != PP_NONE; at = p->merged[at].parent)
		place = pp_tree_child(t, &out->p->memory, place, p->merged[at].function);
	if (place == PP_NONE)
		return -1;
	t->nodes[place].weight += is_self ? n->weight : n->total_weight;
	t->nodes[place].samples += is_self ? n->samples : n->total_samples;
	return 0;
}

/* Adds what an outermost node calls. Returns 0, or -1 without memory. */
static int add_callees(struct pp_graphs *g, struct pp_tree *t, struct pp_out *out, uint32_t node)
{
	const struct pp_profile *p = out->p;

	for (uint32_t at = node; at != PP_NONE; at = pp_next_below(p, node, at)) {
		const struct pp_merged *n = &p->merged[at];

		g->place[at] = at == node && !g->is_of_many ? 0 :
			pp_tree_child(t, &out->p->memory, at == node ? 0 : g->place[n->parent],
				      n->function);
		if (g->place[at] == PP_NONE)
			return -1;
		t->nodes[g->place[at]].weight += n->weight;
		t->nodes[g->place[at]].samples += n->samples;
	}
	return 0;
}

static int add_calls(struct pp_graphs *g, struct pp_tree *t, struct pp_out *out, uint32_t node)
{
	if (out->o.graph == PP_GRAPH_CALLERS && out->o.sort == PP_SORT_SELF)
		return out->p->merged[node].samples ? add_callers(g, t, out, node) : 0;
	if (!is_outermost(g, out->p, node))
		return 0;
	return out->o.graph == PP_GRAPH_CALLERS ? add_callers(g, t, out, node) :
						  add_callees(g, t, out, node);
}

static int put_calls(struct pp_out *out, const struct pp_tree *t)
{
	struct pp_branches b = {
		.out = out, .nodes = pp_link(t, &out->p->memory), .indent = INDENT,
		.is_upward = out->o.graph == PP_GRAPH_CALLERS,
		.all = pp_total(&out->p->merged[out->p->events[out->o.event].merged],
				out->o.measure),
		.min_permyriad = out->o.min_permyriad ? out->o.min_permyriad : MIN_PERMYRIAD,
	};
	const int ret = b.nodes ? pp_branches_put(&b, b.nodes[0].first_child) : -1;

	pp_memory_free(&out->p->memory, b.nodes, t->nr, sizeof(*b.nodes));
	return ret;
}

int pp_graphs_put(struct pp_graphs *g, struct pp_out *out, const struct pp_line *line)
{
	struct pp_tree t = { 0 };
	int ret = pp_tree_child(&t, &out->p->memory, PP_NONE, line->function) == PP_NONE ? -1 : 0;

	for (uint32_t i = g->first[line - g->lines->items]; !ret && i != PP_NONE; i = g->next[i])
		ret = add_calls(g, &t, out, i);
	if (!ret)
		ret = put_calls(out, &t);
	pp_tree_free(&t, &out->p->memory);
	return ret;
}
