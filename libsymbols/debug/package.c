/* package.c - the index of a .dwp: a hash table of ids, and for each unit a row of offsets and a
 * row of sizes. */
#include "debug/package.h"

enum {
	GNU_VERSION = 2,
	DWARF_VERSION = 5,
	COLUMNS_MOST = 16,
};

struct package_index {
	enum pd_swap swap;
	bool is_gnu;
	uint64_t nr_columns, nr_units, nr_slots;
	const uint8_t *ids, *rows, *columns, *offsets, *sizes;
};

/* GNU's version has 4 bytes, DWARF's has 2, and 2 that are reserved. */
static bool read_version(struct pd_cursor *c, struct package_index *x)
{
	const uint8_t *p = pd_take(c, 4);

	if (!p)
		return false;
	x->is_gnu = pd_load32(p, c->swap) == GNU_VERSION;
	return x->is_gnu || pd_load16(p, c->swap) == DWARF_VERSION;
}

static const uint8_t *take_table(struct pd_cursor *c, uint64_t n, size_t width)
{
	return n <= pd_left(c) / width ? pd_take(c, n * width) : NULL;
}

static bool read_index(struct pd_bytes in, struct package_index *x)
{
	struct pd_cursor c = pd_cursor(in, x->swap);

	if (!read_version(&c, x) || !pd_take_number(&c, 4, &x->nr_columns) ||
	    !pd_take_number(&c, 4, &x->nr_units) || !pd_take_number(&c, 4, &x->nr_slots) ||
	    x->nr_columns > COLUMNS_MOST || !x->nr_slots || x->nr_slots & (x->nr_slots - 1))
		return false;
	x->ids = take_table(&c, x->nr_slots, 8);
	x->rows = take_table(&c, x->nr_slots, 4);
	x->columns = take_table(&c, x->nr_columns, 4);
	x->offsets = take_table(&c, x->nr_columns * x->nr_units, 4);
	x->sizes = take_table(&c, x->nr_columns * x->nr_units, 4);
	return x->ids && x->rows && x->columns && x->offsets && x->sizes;
}

/* Returns the unit's row, from 1 on; 0: there is none. */
static uint64_t find_row(const struct package_index *x, uint64_t id)
{
	const uint64_t mask = x->nr_slots - 1, step = (id >> 32 & mask) | 1;
	uint64_t slot = id & mask;

	for (uint64_t tries = 0; tries < x->nr_slots; tries++, slot = (slot + step) & mask) {
		const uint64_t row = pd_load32(x->rows + 4 * slot, x->swap);

		if (!row)
			return 0;
		if (pd_load64(x->ids + 8 * slot, x->swap) == id)
			return row <= x->nr_units ? row : 0;
	}
	return 0;
}

/* Returns the part of a column's DW_SECT number, or PS_PARTS. */
static enum ps_part part_of(uint32_t column, bool is_gnu)
{
	switch (column) {
	case 1:
		return PS_PART_INFO;
	case 3:
		return PS_PART_ABBREV;
	case 6:
		return PS_PART_STR_OFFSETS;
	case 8:
		return is_gnu ? PS_PARTS : PS_PART_RNGLISTS;
	default:
		return PS_PARTS;
	}
}

bool ps_package_find(struct pd_bytes index, enum pd_swap swap, uint64_t id,
		     struct ps_package_unit *out)
{
	struct package_index x = { .swap = swap };
	uint64_t row;

	*out = (struct ps_package_unit){ .size = { 0 } };
	if (!read_index(index, &x))
		return false;
	row = find_row(&x, id);
	for (uint64_t i = 0; row && i < x.nr_columns; i++) {
		const uint64_t at = 4 * ((row - 1) * x.nr_columns + i);
		const enum ps_part part = part_of(pd_load32(x.columns + 4 * i, swap), x.is_gnu);

		if (part == PS_PARTS)
			continue;
		out->offset[part] = pd_load32(x.offsets + at, swap);
		out->size[part] = pd_load32(x.sizes + at, swap);
	}
	return row != 0;
}
