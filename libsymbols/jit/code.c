/* code.c - code that was generated at run time: see code.h. */
#include "jit/code.h"

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

const struct ps_jit_range *ps_jit_find_range(struct ps_jit_code *c, uint64_t address,
					     uint64_t time)
{
	const uint32_t i = find_before(c, number_before(c, time), address);

	return i == PS_FLAT_NONE ? NULL : &c->ranges[i];
}

bool ps_jit_is_only_range(struct ps_jit_code *c, const struct ps_jit_range *r, uint64_t address)
{
	const size_t i = (size_t)(r - c->ranges);

	return find_before(c, c->nr, address) == i && find_before(c, i, address) == PS_FLAT_NONE;
}

bool ps_jit_find(struct ps_jit_code *c, uint64_t address, uint64_t time, struct ps_symbol *out)
{
	const struct ps_jit_range *r = ps_jit_find_range(c, address, time);

	if (!r)
		return false;
	*out = (struct ps_symbol){ .start = r->start, .end = r->end, .from = r->from,
				   .name = r->name, .name_size = r->name_size,
				   .binding = PS_GLOBAL, .source = (uint8_t)c->source };
	return true;
}

/* The last one at or before the address; of several at one offset the last. */
const struct ps_jit_line *ps_jit_find_line(struct ps_jit_code *c, uint64_t address, uint64_t time)
{
	const struct ps_jit_range *r = ps_jit_find_range(c, address, time);
	const struct ps_jit_line *line = r && r->nr_lines ? &c->lines[r->first_line] : NULL;
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
