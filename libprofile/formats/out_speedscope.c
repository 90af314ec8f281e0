/* out_speedscope.c - JSON for speedscope: the samples of each thread and event in a row.
 *
 * The format has no times: the order is that of time, and equal neighbors are one sample.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "encoding/json.h"
#include "profile/parts.h"

struct encoding {
	struct pp_out *out;
	struct pp_parts parts;	/* the heaviest first */
	uint32_t *frames;	/* of each function: its number + 1, 0: none */
	uint32_t *stack;	/* of one sample, innermost first */
	size_t depth, stack_capacity;
};

static int compare_weights(const void *a, const void *b)
{
	const struct pp_part *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* Sorts the parts by what is measured. */
static void sort_parts(struct encoding *c)
{
	struct pp_part *parts = c->parts.items;

	for (size_t i = 0; i < c->parts.nr && c->out->o.measure != PP_BY_PERIOD; i++)
		parts[i].weight = parts[i].samples;
	if (c->parts.nr)
		qsort(parts, c->parts.nr, sizeof(*parts), compare_weights);
}

static bool is_function(const struct pp_named *f)
{
	return pp_is_in_stack(f->kind);
}

static void put_frames(struct encoding *c)
{
	const struct pp_profile *p = c->out->p;
	uint32_t nr = 0;

	for (size_t i = 0; i < p->nr_functions; i++) {
		const struct pp_named *f = &p->functions[i];

		if (!is_function(f))
			continue;
		c->frames[i] = ++nr;
		pp_put_text(c->out, nr > 1 ? ",\n{\"name\":" : "\n{\"name\":");
		pp_json_string(c->out, pp_strings_at(&p->strings, f->name));
		pp_put_text(c->out, ",\"file\":");
		pp_json_string(c->out, pp_strings_at(&p->strings, f->file != PP_NONE ? f->file :
									      f->image));
		pp_put_text(c->out, "}");
	}
}

static int read_stack(struct encoding *c, uint32_t node)
{
	const struct pp_profile *p = c->out->p;

	c->depth = 0;
	for (; node != PP_NONE; node = p->merged[node].parent) {
		uint32_t *stack;

		if (!c->frames[p->merged[node].function])
			continue;
		stack = pp_memory_grow(&c->out->p->memory, c->stack, &c->stack_capacity,
				       c->depth + 1, sizeof(*stack));
		if (!stack)
			return -1;
		c->stack = stack;
		c->stack[c->depth++] = c->frames[p->merged[node].function] - 1;
	}
	return 0;
}

/* Calls `put` for each run of samples in the same function of the same stack. */
static int put_runs(struct encoding *c, const struct pp_part *part,
		    int (*put)(struct encoding *, uint32_t node, uint64_t weight, bool is_first))
{
	const struct pp_profile *p = c->out->p;
	struct pp_part_reader r = pp_part_read(&c->parts, part);
	struct pp_item item = { 0 };
	uint32_t node = PP_NONE;
	uint64_t weight = 0;
	bool is_first = true;

	while (pp_part_next(&r, &item)) {
		const uint32_t at = p->places[item.node].node;

		if (node != PP_NONE && node != at) {
			if (put(c, node, weight, is_first))
				return -1;
			is_first = false;
			weight = 0;
		}
		node = at;
		weight += c->out->o.measure == PP_BY_PERIOD ? item.weight : 1;
	}
	return node == PP_NONE ? 0 : put(c, node, weight, is_first);
}

static int put_stack(struct encoding *c, uint32_t node, uint64_t weight, bool is_first)
{
	(void)weight;
	if (read_stack(c, node))
		return -1;
	pp_put_text(c->out, is_first ? "[" : ",[");
	while (c->depth--) {
		pp_put_number(c->out, c->stack[c->depth], 1, ' ');
		if (c->depth)
			pp_put(c->out, ",", 1);
	}
	pp_put(c->out, "]", 1);
	return 0;
}

static int put_weight(struct encoding *c, uint32_t node, uint64_t weight, bool is_first)
{
	(void)node;
	pp_put_text(c->out, is_first ? "" : ",");
	pp_put_number(c->out, weight, 1, ' ');
	return 0;
}

static int put_part(struct encoding *c, const struct pp_part *part)
{
	const struct pp_profile *p = c->out->p;
	const struct pp_track *t = &p->tracks.items[part->track];
	const struct pp_weigher *w = &p->events[part->event].weigher;
	const bool is_time = w->is_time && c->out->o.measure == PP_BY_PERIOD;
	char name[sizeof(w->name) + 64];
	const struct pd_bytes comm = pp_strings_at(&p->strings, t->comm);

	snprintf(name, sizeof(name), "%.32s %" PRId32 "/%" PRId32 " %s",
		 comm.size ? (const char *)comm.data : "?", t->pid, t->tid, w->name);
	pp_put_text(c->out, "{\"type\":\"sampled\",\"name\":");
	pp_json_text(c->out, name);
	pp_printf(c->out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64
		  ",\n\"samples\":[", is_time ? "nanoseconds" : "none", part->weight);
	if (put_runs(c, part, put_stack))
		return -1;
	pp_put_text(c->out, "],\n\"weights\":[");
	put_runs(c, part, put_weight);
	pp_put_text(c->out, "]}");
	return 0;
}

static int put_profile(struct encoding *c)
{
	pp_put_text(c->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		    "\"exporter\":\"preport@" PD_VERSION "\",\"name\":");
	pp_json_text(c->out, c->out->o.title ? c->out->o.title : "perf.data");
	pp_put_text(c->out, ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
	put_frames(c);
	pp_put_text(c->out, "]},\n\"profiles\":[");
	for (size_t i = 0; i < c->parts.nr; i++) {
		pp_put_text(c->out, i ? ",\n" : "\n");
		if (put_part(c, &c->parts.items[i]))
			return -1;
	}
	pp_put_text(c->out, "]}\n");
	return 0;
}

int pp_write_speedscope(struct pp_out *out)
{
	struct pp_profile *p = out->p;
	struct pp_memory *m = &p->memory;
	struct encoding c = { .out = out };
	int ret = -1;

	c.frames = pp_memory_zeroed(m, p->nr_functions, sizeof(*c.frames));
	if (c.frames && !pp_parts_make(&c.parts, p)) {
		sort_parts(&c);
		ret = put_profile(&c);
	}
	pp_parts_free(&c.parts);
	pp_memory_free(m, c.frames, p->nr_functions, sizeof(*c.frames));
	pp_memory_free(m, c.stack, c.stack_capacity, sizeof(*c.stack));
	return ret;
}
