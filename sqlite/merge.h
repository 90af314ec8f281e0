/* merge.h - equal rows of a batch as one row, and their number. */
#ifndef PQ_MERGE_H
#define PQ_MERGE_H

#include "order.h"

/* Returns whether rows with the column can be merged. */
bool pq_is_merged(const struct pc_column *c);

/* Replaces the batch by one with its distinct rows, in the order of their first appearance, and
 * sets *counts, to be freed: how many each one stands for. `columns` are those of the batch, at
 * most PQ_MOST_TERMS. A batch of which most rows may differ stays as it is; *counts is then NULL.
 * Returns SQLITE_OK or SQLITE_NOMEM; the batch is the caller's even then. */
int pq_merge_rows(const struct pc_table *t, uint64_t columns, struct ArrowArray *batch,
		  uint32_t **counts);

#endif
