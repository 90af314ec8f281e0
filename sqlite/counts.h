/* counts.h - count(), where a row of a scan stands for several that are equal.
 *
 * SQLite takes a row of a scan after the other, which costs more than to decode it. If all that a
 * statement does with the rows of a group is to count them, the scan returns equal rows once, and
 * count() adds the number of rows that the current one stands for. The authorizer sees which tables
 * and functions a statement uses. */
#ifndef PQ_COUNTS_H
#define PQ_COUNTS_H

#include "database.h"

/* Makes count() known. `d` must live as long as `db`. Returns SQLITE_OK or another code. */
int pq_register_counts(sqlite3 *db, struct pq_database *d);

/* Must be called before a statement is prepared; by the authorizer, with its first three arguments;
 * and when the statement is prepared. */
void pq_counts_begin(struct pq_database *d);
void pq_counts_note(struct pq_database *d, int action, const char *a, const char *b);
void pq_counts_end(struct pq_database *d, const char *sql);

#endif
