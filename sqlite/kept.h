/* kept.h - tables that stay in memory, for scans that are repeated and for lookups by a number. */
#ifndef PQ_KEPT_H
#define PQ_KEPT_H

#include "table.h"

struct pq_kept *pq_kept_new(void);
void pq_kept_free(struct pq_kept *k);

/* Counts a scan of a table. Returns how many there were before. */
unsigned int pq_kept_count(struct pq_kept *k, size_t table);

/* Gets a table with these columns, and reads it if it is not there. Sets *out, released by
 * pq_table_release(), or NULL if it does not fit into the memory limit. Returns SQLITE_OK, or
 * another code and *e. */
int pq_kept_get(struct pq_recording *r, size_t table, uint64_t columns, struct pq_table **out,
		struct pd_error *e);

#endif
