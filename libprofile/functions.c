/* functions.c - sums for each function of one event. */
#include "functions.h"

struct part {
	uint32_t function, thread;
	uint64_t weight;
};

struct summing {
	struct pp_profile *p;
	struct pp_sum *sums;
	uint32_t *open;		/* of each function: how often it is in the current stack */
	struct part *parts;
	size_t nr_parts, parts_capacity;
	struct pp_index index;
	uint32_t thread;	/* the first task's name above the current node */
};

static bool is_same_part(const void *ctx, uint32_t id, const void *key)
{
	const struct part *have = &((const struct part *)ctx)[id], *want = key;

	return have->function == want->function && have->thread == want->thread;
}

static int add_part(struct summing *s, uint32_t function, uint64_t weight)
{
	const struct part part = { function, s->thread, weight };
	const uint32_t hash = (uint32_t)pp_hash(function, s->thread);
	const uint32_t found = pp_index_find(&s->index, hash, s->parts, &part, is_same_part);
	struct part *parts;

	if (found != PP_NONE) {
		s->parts[found].weight += weight;
		return 0;
	}
	parts = pp_memory_grow(&s->p->memory, s->parts, &s->parts_capacity, s->nr_parts + 1,
			       sizeof(*parts));
	if (!parts)
		return -1;
	s->parts = parts;
	if (pp_index_add(&s->index, &s->p->memory, hash, (uint32_t)s->nr_parts))
		return -1;
	s->parts[s->nr_parts++] = part;
	return 0;
}

static int enter_node(struct summing *s, const struct pp_merged *n)
{
	const struct pp_named *function = &s->p->functions[n->function];
	struct pp_sum *sum = &s->sums[n->function];

	if (function->kind == PP_KIND_THREAD && s->thread == PP_NONE)
		s->thread = function->name;
	sum->self_weight += n->weight;
	sum->self_samples += n->samples;
	if (!s->open[n->function]++) {
		sum->total_weight += n->total_weight;
		sum->total_samples += n->total_samples;
	}
	return n->samples ? add_part(s, n->function, n->weight) : 0;
}

static void leave_node(struct summing *s, const struct pp_merged *n)
{
	const struct pp_named *function = &s->p->functions[n->function];
	const struct pp_merged *above = n->parent == PP_NONE ? NULL : &s->p->merged[n->parent];

	s->open[n->function]--;
	if (function->kind == PP_KIND_THREAD &&
	    (!above || s->p->functions[above->function].kind != PP_KIND_THREAD))
		s->thread = PP_NONE;
}

static int sum_nodes(struct summing *s, uint32_t root)
{
	const struct pp_merged *nodes = s->p->merged;
	uint32_t at = root;

	while (at != PP_NONE) {
		if (enter_node(s, &nodes[at]))
			return -1;
		if (nodes[at].first_child != PP_NONE) {
			at = nodes[at].first_child;
			continue;
		}
		leave_node(s, &nodes[at]);
		while (at != root && nodes[at].next == PP_NONE) {
			at = nodes[at].parent;
			leave_node(s, &nodes[at]);
		}
		at = at == root ? PP_NONE : nodes[at].next;
	}
	return 0;
}

static void choose_threads(struct summing *s)
{
	uint64_t *best = pp_memory_zeroed(&s->p->memory, s->p->nr_functions, sizeof(*best));

	for (size_t i = 0; best && i < s->nr_parts; i++) {
		const struct part *part = &s->parts[i];
		struct pp_sum *sum = &s->sums[part->function];

		if (!sum->nr_threads++ || part->weight > best[part->function]) {
			sum->thread = part->thread;
			best[part->function] = part->weight;
		}
	}
	pp_memory_free(&s->p->memory, best, s->p->nr_functions, sizeof(*best));
}

struct pp_sum *pp_sums_make(struct pp_profile *p, size_t event)
{
	struct pp_memory *m = &p->memory;
	struct summing s = { .p = p, .thread = PP_NONE };
	int ret = -1;

	s.sums = pp_memory_zeroed(m, p->nr_functions, sizeof(*s.sums));
	s.open = pp_memory_zeroed(m, p->nr_functions, sizeof(*s.open));
	for (size_t i = 0; s.sums && i < p->nr_functions; i++)
		s.sums[i].thread = PP_NONE;
	if (s.sums && s.open)
		ret = sum_nodes(&s, p->events[event].merged);
	if (!ret)
		choose_threads(&s);
	pp_memory_free(m, s.open, p->nr_functions, sizeof(*s.open));
	pp_memory_free(m, s.parts, s.parts_capacity, sizeof(*s.parts));
	pp_index_free(&s.index, m);
	if (ret) {
		pp_sums_free(p, s.sums);
		return NULL;
	}
	return s.sums;
}

void pp_sums_free(struct pp_profile *p, struct pp_sum *sums)
{
	pp_memory_free(&p->memory, sums, p->nr_functions, sizeof(*sums));
}
