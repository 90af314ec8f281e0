/* out_callgrind.c - the graph of calls as Callgrind writes it: costs of lines, and of calls.
 *
 * All events are columns. A call's cost is that of the samples in which it is, once for each,
 * however often it recurs; its count is the number of these samples.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "encoding/out.h"
#include "profile/event_names.h"

/* A line of the file. */
struct cost {
	uint32_t function, line;
	uint32_t callee;	/* PP_NONE: the line's own cost */
	uint32_t place;		/* of its values: `place` times the number of events */
	uint32_t seen;		/* the stack that counted last, + 1 */
	uint64_t samples;
};

struct graph {
	struct pp_out *out;
	struct pp_memory *memory;
	size_t nr_events;
	struct cost *costs;
	size_t nr, capacity;
	struct pp_index index;
	uint64_t *values;
	size_t values_capacity;
	bool *are_repeated;	/* names of events */
	/* The numbers of objects, files and functions are in the order in which they are written:
	 * threads add strings in another. 0: not yet written. */
	uint32_t *numbers;
	uint32_t nr_numbers[3];
};

static bool is_same_cost(const void *ctx, uint32_t id, const void *key)
{
	const struct cost *have = &((const struct cost *)ctx)[id], *want = key;

	return have->function == want->function && have->callee == want->callee &&
	       (have->line == want->line || have->callee != PP_NONE);
}

/* Returns a line, added if it is new; NULL without memory. A call has one: that of the first. */
static struct cost *cost_of(struct graph *g, uint32_t function, uint32_t line, uint32_t callee)
{
	struct cost key = { .function = function, .line = line, .callee = callee };
	const uint64_t mixed = pp_index_hash(&g->index, (uint64_t)function << 32 | callee);
	const uint32_t hash = (uint32_t)pd_hash_mix(mixed, callee == PP_NONE ? line : 0);
	const uint32_t found = pp_index_find(&g->index, hash, g->costs, &key, is_same_cost);
	struct cost *costs;
	uint64_t *values;
	size_t before = g->values_capacity;

	if (found != PP_NONE)
		return &g->costs[found];
	costs = pp_memory_grow(g->memory, g->costs, &g->capacity, g->nr + 1, sizeof(*costs));
	if (!costs)
		return NULL;
	g->costs = costs;
	values = pp_memory_grow(g->memory, g->values, &g->values_capacity,
				(g->nr + 1) * g->nr_events, sizeof(*values));
	if (!values)
		return NULL;
	g->values = values;
	memset(values + before, 0, (g->values_capacity - before) * sizeof(*values));
	if (g->nr >= PP_NONE - 1 || pp_index_add(&g->index, g->memory, hash, (uint32_t)g->nr))
		return NULL;
	key.place = (uint32_t)g->nr;
	g->costs[g->nr] = key;
	return &g->costs[g->nr++];
}

static bool is_function(const struct pp_named *f)
{
	return pp_is_in_stack(f->kind);
}

static int add_cost(struct graph *g, const struct pp_step *step, uint32_t callee, uint32_t stack)
{
	const struct pp_node *node = &g->out->p->tree.nodes[stack];
	struct cost *c = cost_of(g, step->function, step->line, callee);

	if (!c)
		return -1;
	if (c->seen == stack + 1)
		return 0;
	c->seen = stack + 1;
	c->samples += node->samples;
	g->values[c->place * g->nr_events + g->out->p->places[stack].event] +=
		g->out->o.measure == PP_BY_PERIOD ? node->weight : node->samples;
	return 0;
}

/* A stack without a function is the cost of its task. */
static int add_stack(struct graph *g, uint32_t stack)
{
	const struct pp_profile *p = g->out->p;
	const struct pp_step *task = NULL;
	uint32_t callee = PP_NONE;

	for (uint32_t at = stack; at != PP_NONE; at = p->tree.nodes[at].parent) {
		const uint32_t frame = p->tree.nodes[at].frame;

		for (uint32_t k = p->first_step[frame + 1]; k-- > p->first_step[frame];) {
			if (!task)
				task = &p->steps[k];
			if (!is_function(&p->functions[p->steps[k].function]))
				continue;
			if (add_cost(g, &p->steps[k], callee, stack))
				return -1;
			callee = p->steps[k].function;
		}
	}
	return callee == PP_NONE && task ? add_cost(g, task, PP_NONE, stack) : 0;
}

static int compare_costs(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->callee != y->callee)	/* own lines first */
		return x->callee + 1 < y->callee + 1 ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

enum { OBJECT, SOURCE, FUNCTION };

/* Writes "key=(number) name", and the name only the first time. Files, objects and functions are
 * numbered apart. */
static void put_reference(struct graph *g, const char *const keys[3], unsigned int kind,
			  size_t slot, struct pd_bytes name)
{
	const bool is_first = !g->numbers[slot];

	if (is_first)
		g->numbers[slot] = ++g->nr_numbers[kind];
	pp_printf(g->out, "%s=(%" PRIu32 ")", keys[kind], g->numbers[slot]);
	if (is_first) {
		pp_put_text(g->out, " ");
		pp_put_name(g->out, name.size ? name :
			    (struct pd_bytes){ (const uint8_t *)"???", 3 }, 0);
	}
	pp_put_text(g->out, "\n");
}

static void put_function(struct graph *g, uint32_t function, const char *const keys[3])
{
	static const struct pd_bytes unknown = { NULL, 0 };
	const struct pp_profile *p = g->out->p;
	const struct pp_named *f = &p->functions[function];
	const size_t nr = p->strings.nr;

	put_reference(g, keys, OBJECT, f->image, pp_strings_at(&p->strings, f->image));
	if (f->file != PP_NONE)
		put_reference(g, keys, SOURCE, nr + f->file, pp_strings_at(&p->strings, f->file));
	else
		put_reference(g, keys, SOURCE, 2 * nr, unknown);
	put_reference(g, keys, FUNCTION, 2 * nr + 1 + function,
		      pp_strings_at(&p->strings, f->name));
}

static void put_values(struct graph *g, const struct cost *c)
{
	pp_printf(g->out, "%" PRIu32, c->line);
	for (size_t i = 0; i < g->nr_events; i++)
		if (pp_is_column(g->out->p, i))
			pp_printf(g->out, " %" PRIu64, g->values[c->place * g->nr_events + i]);
	pp_put_text(g->out, "\n");
}

static void put_costs(struct graph *g)
{
	static const char *const own[] = { "ob", "fl", "fn" }, *const called[] = { "cob", "cfi",
										   "cfn" };

	for (size_t i = 0; i < g->nr; i++) {
		const struct cost *c = &g->costs[i];

		if (!i || c->function != g->costs[i - 1].function) {
			pp_put_text(g->out, "\n");
			put_function(g, c->function, own);
		}
		if (c->callee != PP_NONE) {
			put_function(g, c->callee, called);
			pp_printf(g->out, "calls=%" PRIu64 " %" PRIu32 "\n", c->samples,
				  g->out->p->functions[c->callee].line);
		}
		put_values(g, c);
	}
}

/* Identifiers, each once. */
static void put_event_name(struct graph *g, size_t event)
{
	const char *name = g->out->p->events[event].weigher.name;

	pp_put_text(g->out, isalpha((unsigned char)*name) ? " " : " e_");
	for (const char *c = name; *c; c++)
		pp_put(g->out, isalnum((unsigned char)*c) ? c : "_", 1);
	if (g->are_repeated[event])
		pp_printf(g->out, "_%zu", event + 1);
}

static void put_head(struct graph *g)
{
	const struct pp_profile *p = g->out->p;

	pp_put_text(g->out, "# callgrind format\nversion: 1\ncreator: preport " PD_VERSION);
	if (p->command != PP_NONE) {
		pp_put_text(g->out, "\ncmd: ");
		pp_put_name(g->out, pp_strings_at(&p->strings, p->command), 0);
	}
	pp_put_text(g->out,
		    "\ndesc: Calls: the numbers of samples\npositions: line\nevents:");
	for (size_t i = 0; i < g->nr_events; i++)
		if (pp_is_column(p, i))
			put_event_name(g, i);
	pp_put_text(g->out, "\nsummary:");
	for (size_t i = 0; i < g->nr_events; i++)
		if (pp_is_column(p, i))
			pp_printf(g->out, " %" PRIu64, pp_total(&p->merged[p->events[i].merged],
								g->out->o.measure));
	pp_put_text(g->out, "\n");
}

int pp_write_callgrind(struct pp_out *out)
{
	struct pp_profile *p = out->p;
	struct graph g = { .out = out, .memory = &p->memory, .nr_events = p->nr_events };
	const size_t nr_names = 2 * p->strings.nr + 1 + p->nr_functions;
	int ret = 0;

	g.numbers = pp_memory_zeroed(g.memory, nr_names, sizeof(*g.numbers));
	g.are_repeated = pp_find_repeated_names(p);
	if (!g.numbers || !g.are_repeated)
		ret = -1;
	for (uint32_t i = 0; i < p->tree.nr && !ret; i++)
		if (p->tree.nodes[i].samples && !p->places[i].is_left_out)
			ret = add_stack(&g, i);
	if (!ret) {
		if (g.nr)
			qsort(g.costs, g.nr, sizeof(*g.costs), compare_costs);
		put_head(&g);
		put_costs(&g);
	}
	pp_memory_free(g.memory, g.numbers, nr_names, sizeof(*g.numbers));
	pp_memory_free(g.memory, g.are_repeated, p->nr_events, sizeof(*g.are_repeated));
	pp_memory_free(g.memory, g.costs, g.capacity, sizeof(*g.costs));
	pp_memory_free(g.memory, g.values, g.values_capacity, sizeof(*g.values));
	pp_index_free(&g.index, g.memory);
	return ret;
}
