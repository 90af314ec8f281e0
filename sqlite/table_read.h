/* table_read.h - reads a table of a recording into memory. */
#ifndef PQ_TABLE_READ_H
#define PQ_TABLE_READ_H

#include "table.h"

/* Rows that are read into memory. */
struct pq_wanted {
	struct pq_scan scan;	/* of all of the recording */
	size_t row_bytes;	/* that the caller needs besides, for each row */
	enum pq_equal_rows { PQ_EACH, PQ_MERGED } equal;
};

/* Reads a table, with several threads if that is allowed and pays. Sets *out, to be released by
 * pq_table_release(). Returns SQLITE_OK; SQLITE_FULL if it does not fit into the memory limit; or
 * another code and *e. */
int pq_table_read(struct pq_recording *r, const struct pq_wanted *wanted, struct pq_table **out,
		  struct pd_error *e);

#endif
