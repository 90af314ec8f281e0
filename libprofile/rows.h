/* rows.h - the table of functions, as a terminal, CSV and JSON show it. */
#ifndef PP_ROWS_H
#define PP_ROWS_H

#include "functions.h"
#include "out.h"

struct pp_row {
	uint64_t value, second;		/* what it is sorted by, and what decides then */
	uint64_t self, total, samples;
	const struct pp_named *function;
	const struct pp_sum *sum;
	const uint8_t *name;	/* last, so that equal values have an order of their own */
};

/* Fills in the rows of the functions that have samples, sorted; there must be room for all
 * functions. Returns how many there are. */
size_t pp_rows_collect(const struct pp_out *out, const struct pp_sum *sums, struct pp_row *rows);

#endif
