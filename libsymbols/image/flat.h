/* flat.h - ranges that overlap, made into a sorted array: one binary search finds the range on
 * top. */
#ifndef PS_IMAGE_FLAT_H
#define PS_IMAGE_FLAT_H

#include "base/buf.h"

#define PS_FLAT_NONE UINT32_MAX

struct ps_range {
	uint64_t start, end;
	uint32_t value;		/* where ranges overlap, the largest value wins */
};

/* From `at` to the next point the value applies. */
struct ps_point {
	uint64_t at;
	uint32_t value;		/* PS_FLAT_NONE: no range */
};

/* Must be zero-initialized, except for the budget. */
struct ps_flat {
	struct pd_budget *budget;
	struct ps_point *points;
	size_t nr, capacity;
};

/* Makes the array. Takes n log n time for n ranges. Returns 0, or -1 without memory. */
int ps_flat_build(struct ps_flat *f, const struct ps_range *ranges, size_t n);
/* Returns the value at the address, or PS_FLAT_NONE. */
uint32_t ps_flat_find(const struct ps_flat *f, uint64_t address);
void ps_flat_free(struct ps_flat *f);

#endif
