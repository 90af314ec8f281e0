/* by_time.c - numbers in the order of time.
 *
 * A recording has the samples of each CPU one after the other, and can be read in parts. Files list
 * functions and stacks as they appear, which is to be the same however the samples were read: so
 * the paths of the stacks are followed again, each at the time of its first sample.
 */
#include "merge/by_time.h"

#include <stdlib.h>
#include <string.h>

#include "profile/firsts.h"

struct stack {
	struct pp_first first;
	uint32_t node;
};

struct numbering {
	struct pp_profile *p;
	struct stack *stacks;	/* that have samples */
	bool *is_listed;	/* of each node */
	uint32_t *frames;	/* the new number of each; PP_NONE: none yet */
	uint32_t *events;	/* likewise */
	uint32_t nr_nodes, nr_frames, nr_events;
};

static int compare_stacks(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	return pp_is_earlier(&x->first, &y->first) ? -1 : 1;
}

static size_t sort_stacks(struct numbering *g)
{
	size_t n = 0;

	for (uint32_t i = 0; i < g->p->tree.nr; i++) {
		const struct pp_first *first = pp_firsts_of(g->p, i);

		if (first)
			g->stacks[n++] = (struct stack){ *first, i };
	}
	qsort(g->stacks, n, sizeof(*g->stacks), compare_stacks);
	return n;
}

static void number_frame(struct numbering *g, uint32_t frame)
{
	if (g->frames[frame] == PP_NONE)
		g->frames[frame] = g->nr_frames++;
}

static void list_node(struct numbering *g, uint32_t node)
{
	g->is_listed[node] = true;
	g->p->in_time[g->nr_nodes++] = node;
	number_frame(g, g->p->tree.nodes[node].frame);
}

/* An event has two nodes from its beginning. */
static void list_event(struct numbering *g, uint32_t root)
{
	const struct pp_profile *p = g->p;
	const uint32_t event = p->frames.items[p->tree.nodes[root].frame].text;

	g->events[event] = g->nr_events++;
	list_node(g, root);
	list_node(g, p->events[event].small);
}

/* Lists the nodes from the root to this one, as far as they are not listed yet. */
static void list_path(struct numbering *g, uint32_t node)
{
	const struct pp_profile *p = g->p;
	const struct pp_node *nodes = p->tree.nodes;
	uint32_t root = node, end;

	while (!g->is_listed[root] && nodes[root].parent != PP_NONE)
		root = nodes[root].parent;
	if (!g->is_listed[root])
		list_event(g, root);
	end = g->nr_nodes;
	for (uint32_t i = node; !g->is_listed[i]; i = nodes[i].parent)
		end++;
	for (uint32_t i = node, at = end; !g->is_listed[i]; i = nodes[i].parent) {
		g->is_listed[i] = true;
		p->in_time[--at] = i;
	}
	for (; g->nr_nodes < end; g->nr_nodes++)
		number_frame(g, nodes[p->in_time[g->nr_nodes]].frame);
}

static void list_all(struct numbering *g)
{
	const struct pp_profile *p = g->p;
	const size_t n = sort_stacks(g);

	for (size_t i = 0; i < n; i++)
		list_path(g, g->stacks[i].node);
	for (uint32_t i = 0; i < p->tree.nr; i++)	/* no sample is there */
		list_path(g, i);
	for (uint32_t i = 0; i < p->frames.nr; i++)
		number_frame(g, i);
}

/* Gives the events their new numbers. */
static int move_events(struct numbering *g)
{
	struct pp_profile *p = g->p;
	const size_t nr = p->nr_events;
	struct pp_counted_event *events = pp_memory_zeroed(&p->memory, nr, sizeof(*events));

	if (!events)
		return -1;
	for (size_t i = 0; i < nr; i++)
		events[g->events[i]] = p->events[i];
	memcpy(p->events, events, nr * sizeof(*events));
	pp_memory_free(&p->memory, events, nr, sizeof(*events));
	for (size_t i = 0; i < nr; i++)
		p->frames.items[p->tree.nodes[p->events[i].root].frame].text = (uint32_t)i;
	for (size_t i = 0; i < p->attrs_capacity; i++)
		if (p->event_of_attr[i] != PP_NONE)
			p->event_of_attr[i] = g->events[p->event_of_attr[i]];
	return 0;
}

/* The same for the frames. */
static int move_frames(struct numbering *g)
{
	struct pp_profile *p = g->p;
	struct pp_frames *f = &p->frames;
	struct pp_frame *items = pp_memory_zeroed(&p->memory, f->nr, sizeof(*items));

	if (!items)
		return -1;
	for (size_t i = 0; i < f->nr; i++)
		items[g->frames[i]] = f->items[i];
	pp_memory_free(&p->memory, f->items, f->capacity, sizeof(*items));
	f->items = items;
	f->capacity = f->nr;
	for (size_t i = 0; i < p->tree.nr; i++)
		p->tree.nodes[i].frame = g->frames[p->tree.nodes[i].frame];
	return 0;
}

static int number_all(struct numbering *g)
{
	struct pp_profile *p = g->p;

	if (!g->stacks || !g->is_listed || !g->frames || !g->events || !p->in_time)
		return -1;
	memset(g->frames, 0xff, p->frames.nr * sizeof(*g->frames));
	list_all(g);
	return move_events(g) || move_frames(g) ? -1 : 0;
}

int pp_number_by_time(struct pp_profile *p)
{
	struct pp_memory *m = &p->memory;
	const size_t nr_frames = p->frames.nr, nr_nodes = p->tree.nr;
	struct numbering g = { .p = p };
	int ret;

	if (!p->firsts.is_unordered || p->firsts.is_given_up)
		return 0;
	g.stacks = pp_memory_zeroed(m, nr_nodes, sizeof(*g.stacks));
	g.is_listed = pp_memory_zeroed(m, nr_nodes, sizeof(*g.is_listed));
	g.frames = pp_memory_zeroed(m, nr_frames, sizeof(*g.frames));
	g.events = pp_memory_zeroed(m, p->nr_events, sizeof(*g.events));
	p->in_time = pp_memory_zeroed(m, nr_nodes, sizeof(*p->in_time));
	ret = number_all(&g);
	pp_memory_free(m, g.stacks, nr_nodes, sizeof(*g.stacks));
	pp_memory_free(m, g.is_listed, nr_nodes, sizeof(*g.is_listed));
	pp_memory_free(m, g.frames, nr_frames, sizeof(*g.frames));
	pp_memory_free(m, g.events, p->nr_events, sizeof(*g.events));
	pp_firsts_free(&p->firsts, m);
	return ret;
}
