/* joined.c - one event's tree of functions, and perhaps that of an older recording, as one tree. */
#include "page/joined.h"

#include <stdio.h>
#include <string.h>

struct joining {
	struct pp_joined *j;
	struct pp_profile *newer;	/* whose strings are the keys, and whose memory is used */
	struct pp_profile *p;		/* the one that is added */
	uint32_t *numbers;		/* of its functions; PP_NONE: not there yet */
	bool is_compared, is_base;
};

/* --- functions --- */

static bool is_same(const void *ctx, uint32_t id, const void *key)
{
	const struct pp_joined_function *have = &((const struct pp_joined_function *)ctx)[id];
	const struct pp_joined_function *want = key;

	return have->name == want->name && have->image == want->image;
}

static uint32_t add_string(struct joining *g, const char *text, size_t size)
{
	return pp_strings_add(&g->newer->strings, &g->newer->memory, text, size);
}

/* Writes the last part of a path, or what fits of it. */
static size_t copy_last_part(char *to, size_t room, struct pd_bytes path)
{
	const struct pd_bytes part = pp_last_part(path);
	const size_t size = part.size < room ? part.size : room;

	memcpy(to, part.data, size);
	return size;
}

/* Sets the strings by which a function is found in the other recording. */
static void set_keys(struct joining *g, struct pp_joined_function *f)
{
	const struct pp_named *named = &g->p->functions[f->number];
	const struct pd_bytes name = pp_strings_at(&g->p->strings, named->name);
	char text[256];
	size_t size;

	if (named->kind == PP_KIND_THREAD) {
		size = pp_copy_without_digits(text, sizeof(text), name);
		f->name = add_string(g, text, size);
		f->image = add_string(g, "[thread]", 8);
		return;
	}
	f->name = g->p == g->newer ? named->name :
				     add_string(g, (const char *)name.data, name.size);
	if (named->kind == PP_KIND_KERNEL)
		size = (size_t)snprintf(text, sizeof(text), "[k]");
	else
		size = copy_last_part(text, sizeof(text),
				      pp_strings_at(&g->p->strings, named->image));
	f->image = add_string(g, text, size);
}

/* Returns the number of a function of g->p, or PP_NONE without memory. */
static uint32_t add_function(struct joining *g, uint32_t number)
{
	struct pp_joined *j = g->j;
	struct pp_joined_function f = { g->p, number, PP_NONE, PP_NONE }, *functions;
	uint32_t hash, found = PP_NONE;

	if (g->numbers[number] != PP_NONE)
		return g->numbers[number];
	if (g->is_compared) {
		set_keys(g, &f);
		if (f.name == PP_NONE || f.image == PP_NONE)
			return PP_NONE;
		hash = (uint32_t)pp_index_hash(&j->index, (uint64_t)f.name << 32 | f.image);
		found = pp_index_find(&j->index, hash, j->functions, &f, is_same);
		if (found == PP_NONE && pp_index_add(&j->index, &g->newer->memory, hash,
						     (uint32_t)j->nr_functions))
			return PP_NONE;
	}
	if (found == PP_NONE) {
		functions = pp_memory_grow(&g->newer->memory, j->functions,
					   &j->functions_capacity, j->nr_functions + 1,
					   sizeof(*functions));
		if (!functions)
			return PP_NONE;
		j->functions = functions;
		j->functions[j->nr_functions] = f;
		found = (uint32_t)j->nr_functions++;
	}
	return g->numbers[number] = found;
}

/* --- nodes --- */

static int note_before(struct joining *g, uint32_t node, const struct pp_merged *n)
{
	struct pp_joined *j = g->j;
	const size_t before = j->before_capacity;
	struct pp_before *all = pp_memory_grow(&g->newer->memory, j->before, &j->before_capacity,
					       j->tree.nr, sizeof(*all));

	if (!all)
		return -1;
	j->before = all;
	memset(all + before, 0, (j->before_capacity - before) * sizeof(*all));
	if (g->is_base) {
		all[node].weight += n->weight;
		all[node].samples += n->samples;
	}
	return 0;
}

/* Adds a node below that of its parent. Returns it, or PP_NONE without memory. */
static uint32_t add_node(struct joining *g, const struct pp_merged *n, uint32_t parent)
{
	/* the events of two recordings may have different names: both are the root */
	const uint32_t function = g->is_base && parent == PP_NONE ? g->j->tree.nodes[0].frame :
								    add_function(g, n->function);
	uint32_t node;

	if (function == PP_NONE)
		return PP_NONE;
	node = pp_tree_child(&g->j->tree, &g->newer->memory, parent, function);
	if (node == PP_NONE || (g->is_compared && note_before(g, node, n)))
		return PP_NONE;
	if (!g->is_base) {
		g->j->tree.nodes[node].weight += n->weight;
		g->j->tree.nodes[node].samples += n->samples;
	}
	return node;
}

static int add_nodes(struct joining *g, size_t event, uint32_t *places)
{
	const struct pp_profile *p = g->p;
	const uint32_t root = p->events[event].merged;

	for (uint32_t i = root; i != PP_NONE; i = pp_next_below(p, root, i)) {
		const struct pp_merged *n = &p->merged[i];

		places[i] = add_node(g, n, i == root ? PP_NONE : places[n->parent]);
		if (places[i] == PP_NONE)
			return -1;
	}
	return 0;
}

/* Adds the tree of one recording, and sets places[] of its nodes. */
static int add_profile(struct joining *g, size_t event, uint32_t *places)
{
	struct pp_memory *m = &g->newer->memory;
	const size_t nr = g->p->nr_functions;
	int ret;

	g->numbers = pp_memory_zeroed(m, nr, sizeof(*g->numbers));
	if (!g->numbers)
		return -1;
	memset(g->numbers, 0xff, nr * sizeof(*g->numbers));
	ret = add_nodes(g, event, places);
	pp_memory_free(m, g->numbers, nr, sizeof(*g->numbers));
	return ret;
}

/* In the order in which they came: heaviest first, what only the older recording has last. */
static int link_nodes(struct pp_joined *j, struct pp_memory *m)
{
	j->first_child = pp_memory_zeroed(m, j->tree.nr, sizeof(*j->first_child));
	j->next = pp_memory_zeroed(m, j->tree.nr, sizeof(*j->next));
	if (!j->first_child || !j->next)
		return -1;
	memset(j->first_child, 0xff, j->tree.nr * sizeof(*j->first_child));
	memset(j->next, 0xff, j->tree.nr * sizeof(*j->next));
	for (size_t i = j->tree.nr; --i;) {
		const uint32_t parent = j->tree.nodes[i].parent;

		j->next[i] = j->first_child[parent];
		j->first_child[parent] = (uint32_t)i;
	}
	return 0;
}

static int add_base(struct joining *g, struct pp_profile *base, size_t event)
{
	struct pp_memory *m = &g->newer->memory;
	const size_t nr = base->nr_merged;
	uint32_t *places = pp_memory_zeroed(m, nr, sizeof(*places));
	int ret = -1;

	g->p = base;
	g->is_base = true;
	if (places)
		ret = add_profile(g, event, places);
	pp_memory_free(m, places, nr, sizeof(*places));
	return ret;
}

int pp_join(struct pp_joined *j, struct pp_profile *p, size_t event, struct pp_profile *base,
	    size_t base_event)
{
	struct joining g = { .j = j, .newer = p, .p = p, .is_compared = base };

	if (add_profile(&g, event, j->places))
		return -1;
	if (base && add_base(&g, base, base_event))
		return -1;
	pp_index_free(&j->tree.index, &p->memory);
	return link_nodes(j, &p->memory);
}

void pp_joined_free(struct pp_joined *j, struct pp_memory *m)
{
	pp_memory_free(m, j->first_child, j->tree.nr, sizeof(*j->first_child));
	pp_memory_free(m, j->next, j->tree.nr, sizeof(*j->next));
	pp_memory_free(m, j->before, j->before_capacity, sizeof(*j->before));
	pp_memory_free(m, j->functions, j->functions_capacity, sizeof(*j->functions));
	pp_index_free(&j->index, m);
	pp_tree_free(&j->tree, m);
}
