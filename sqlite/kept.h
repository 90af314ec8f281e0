/* kept.h - tables that stay in memory, for scans that are repeated and for lookups by a number. */
#ifndef PQ_KEPT_H
#define PQ_KEPT_H

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

struct pq_kept *pq_kept_new(void);
void pq_kept_free(struct pq_kept *k);

/* Rows that are read into memory. */
struct pq_wanted {
	size_t table;
	uint64_t columns;
	const struct pd_filter_options *filter;	/* NULL: all rows */
	size_t row_bytes;	/* that the caller needs besides, for each row */
	enum pq_equal_rows { PQ_EACH, PQ_MERGED } equal;
};

/* Counts a scan of a table. Returns how many there were before. */
unsigned int pq_kept_count(struct pq_kept *k, size_t table);

/* Gets a table with these columns, and reads it if it is not there. Sets *out, released by
 * pq_table_release(), or NULL if it does not fit into the memory limit. Returns SQLITE_OK, or
 * another code and *e. */
int pq_kept_get(struct pq_recording *r, size_t table, uint64_t columns, struct pq_table **out,
		struct pd_error *e);

/* Reads a table that is not kept. Returns SQLITE_FULL if it does not fit, or as
 * pq_kept_get(). */
int pq_table_read(struct pq_recording *r, const struct pq_wanted *wanted, struct pq_table **out,
		  struct pd_error *e);

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
