/* code.c - code that was generated at run time: see code.h. */
#include "jit/code.h"

#include <string.h>

int ps_jit_add(struct ps_jit_code *c, const struct ps_jit_range *r)
{
	struct ps_jit_range *ranges;

	if (r->end <= r->start)
		return 0;
	ranges = c->nr < PS_FLAT_NONE ? pd_budget_room(c->budget, c->ranges, c->nr, &c->capacity,
						       sizeof(*ranges)) : NULL;
	if (!ranges)
		return -1;
	c->ranges = ranges;
	c->ranges[c->nr++] = *r;
	return 0;
}

/* Makes the ranges [low, high) searchable. */
static int flatten(struct ps_jit_code *c, struct ps_flat *flat, size_t low, size_t high)
{
	const size_t n = high - low;
	struct ps_range *ranges = pd_budget_alloc(c->budget, n * sizeof(*ranges));
	int ret;

	if (!ranges)
		return -1;
	for (size_t i = 0; i < n; i++)
		ranges[i] = (struct ps_range){ c->ranges[low + i].start, c->ranges[low + i].end,
					       (uint32_t)(low + i) };
	flat->budget = c->budget;
	ret = ps_flat_build(flat, ranges, n);
	pd_budget_free(c->budget, ranges, n * sizeof(*ranges));
	return ret;
}

int ps_jit_seal(struct ps_jit_code *c)
{
	for (size_t i = 1; i < c->nr; i++)
		if (c->ranges[i].from < c->ranges[i - 1].from)
			c->ranges[i].from = c->ranges[i - 1].from;
	return flatten(c, &c->flat, 0, c->nr);
}

/* --- searching ---
 *
 * The ranges form a tree: all of them, halves, quarters, down to PART_MIN. A search for the last
 * one before a number enters one path of it, and next to that whole parts. */

#define PART_MIN 64
#define EARLIER_MOST 256	/* pieces of code at an address that are looked at */

static size_t number_before(const struct ps_jit_code *c, uint64_t time)
{
	size_t low = 0, n = c->nr;

	while (n) {
		const size_t half = n / 2;

		if (c->ranges[low + half].from <= time) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

static uint32_t find_in_few(const struct ps_jit_code *c, size_t low, size_t high, uint64_t address)
{
	for (size_t i = high; i-- > low;)
		if (c->ranges[i].start <= address && address < c->ranges[i].end)
			return (uint32_t)i;
	return PS_FLAT_NONE;
}

static struct ps_flat *part_of(struct ps_jit_code *c, size_t node, size_t low, size_t high)
{
	struct ps_flat *flat;

	if (!node)
		return &c->flat;
	if (!c->parts) {
		c->nr_parts = 8 * (c->nr / PART_MIN + 1);
		c->parts = pd_budget_alloc(c->budget, c->nr_parts * sizeof(*c->parts));
		if (!c->parts)
			return NULL;
	}
	flat = node < c->nr_parts ? &c->parts[node] : NULL;
	return flat && (flat->points || !flatten(c, flat, low, high)) ? flat : NULL;
}

/* Finds the last range of [low, high) before number `before` that contains the address. */
static uint32_t find_before(struct ps_jit_code *c, size_t before, uint64_t address)
{
	struct { size_t node, low, high; } open[2 * 8 * sizeof(size_t)] = { { 0, 0, c->nr } };
	size_t nr = 1;

	while (nr--) {
		const size_t node = open[nr].node, low = open[nr].low, high = open[nr].high;
		const size_t middle = low + (high - low) / 2;
		const struct ps_flat *flat;
		uint32_t found;

		if (before <= low)
			continue;
		if (high - low <= PART_MIN) {
			found = find_in_few(c, low, high < before ? high : before, address);
		} else {
			flat = part_of(c, node, low, high);
			found = flat ? ps_flat_find(flat, address) : PS_FLAT_NONE;
		}
		if (found != PS_FLAT_NONE && found < before)
			return found;
		if (found == PS_FLAT_NONE)
			continue;
		open[nr].node = 2 * node + 1;
		open[nr].low = low;
		open[nr++].high = middle;
		open[nr].node = 2 * node + 2;
		open[nr].low = middle;
		open[nr++].high = high;
	}
	return PS_FLAT_NONE;
}

static bool has_same_name(const struct ps_jit_range *a, const struct ps_jit_range *b)
{
	return a->name_size == b->name_size && !memcmp(a->name, b->name, a->name_size);
}

/* Without times nothing was written after the earliest one, so all of it counts. */
static bool is_first_of(struct ps_jit_time when, const struct ps_jit_range *r)
{
	return when.earliest && r->from <= when.earliest;
}

enum ps_jit_found ps_jit_find_range(struct ps_jit_code *c, uint64_t address,
				    struct ps_jit_time when, const struct ps_jit_range **out)
{
	uint32_t i = find_before(c, number_before(c, when.latest), address);
	const struct ps_jit_range *last = i == PS_FLAT_NONE ? NULL : &c->ranges[i];

	if (!last)
		return PS_JIT_NOTHING;
	*out = last;
	for (size_t n = 0; !is_first_of(when, &c->ranges[i]); n++) {
		i = find_before(c, i, address);
		if (i == PS_FLAT_NONE)
			return n ? PS_JIT_ONE_NAME : PS_JIT_ONE;
		if (n == EARLIER_MOST || !has_same_name(&c->ranges[i], last))
			return PS_JIT_SEVERAL;
	}
	return &c->ranges[i] == last ? PS_JIT_ONE : PS_JIT_ONE_NAME;
}

const struct ps_jit_range *ps_jit_before(struct ps_jit_code *c, const struct ps_jit_range *r,
					 uint64_t address)
{
	const uint32_t i = find_before(c, (size_t)(r - c->ranges), address);

	return i == PS_FLAT_NONE ? NULL : &c->ranges[i];
}

enum ps_jit_found ps_jit_find(struct ps_jit_code *c, uint64_t address, struct ps_jit_time when,
			      struct ps_symbol *out)
{
	const struct ps_jit_range *r;
	const enum ps_jit_found found = ps_jit_find_range(c, address, when, &r);

	if (found != PS_JIT_NOTHING)
		*out = (struct ps_symbol){ .start = r->start, .end = r->end, .from = r->from,
					   .name = r->name, .name_size = r->name_size,
					   .binding = PS_GLOBAL, .source = (uint8_t)c->source };
	return found;
}

/* The last one at or before the address; of several at one offset the last. */
const struct ps_jit_line *ps_jit_find_line(struct ps_jit_code *c, uint64_t address,
					   struct ps_jit_time when)
{
	const struct ps_jit_range *r = NULL;
	const bool is_one = ps_jit_find_range(c, address, when, &r) == PS_JIT_ONE;
	const struct ps_jit_line *line = is_one && r->nr_lines ? &c->lines[r->first_line] : NULL;
	size_t n = line ? r->nr_lines : 0;

	if (!n || address - r->start < line->offset)
		return NULL;
	while (n > 1) {
		const size_t half = n / 2;

		line += line[half].offset <= address - r->start ? half : 0;
		n -= half;
	}
	return line->line ? line : NULL;
}

void ps_jit_free(struct ps_jit_code *c)
{
	pd_budget_free(c->budget, c->lines, c->line_capacity * sizeof(*c->lines));
	pd_budget_free(c->budget, c->ranges, c->capacity * sizeof(*c->ranges));
	ps_flat_free(&c->flat);
	for (size_t i = 0; i < c->nr_parts; i++)
		if (c->parts[i].points)
			ps_flat_free(&c->parts[i]);
	pd_budget_free(c->budget, c->parts, c->nr_parts * sizeof(*c->parts));
	*c = (struct ps_jit_code){ .budget = c->budget };
}
