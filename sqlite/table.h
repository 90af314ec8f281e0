/* table.h - a table in memory, and lookups by a number in it. */
#ifndef PQ_TABLE_H
#define PQ_TABLE_H

#include "recording.h"

/* Row numbers in the order of an integer column. */
struct pq_lookup {
	struct pq_entry {
		int64_t key;
		uint32_t row;
	} *entries;
	size_t count;
	bool is_made;
};

/* A table, or the columns of it that were wanted so far. Its scans may go on when it is replaced by
 * one with more columns. */
struct pq_table {
	unsigned int users;
	uint64_t columns;
	struct ArrowArray *batches;
	size_t *firsts;			/* row of each batch's first */
	size_t nr_batches, rows;
	uint32_t *counts;		/* rows that each one stands for; NULL: itself */
	uint64_t bytes;
	struct pq_lookup *lookups;	/* of each column */
	size_t nr_columns;
};

void pq_table_release(struct pq_table *t);

/* Returns the batch of a row and sets *at to its place there. */
const struct ArrowArray *pq_table_row(const struct pq_table *t, size_t row, int64_t *at);

/* The entries of a lookup with one key. */
struct pq_found {
	size_t first, count;
};

/* Finds a key in the lookup of an integer column, which is made if necessary. Returns the lookup,
 * or NULL without memory. */
const struct pq_lookup *pq_table_find(struct pq_table *t, const struct pc_column *of,
				      size_t column, int64_t key, struct pq_found *found);

#endif
