/* order.h - the rows of a table in the order of ORDER BY: NULL first, texts by their
 * bytes. */
#ifndef PQ_ORDER_H
#define PQ_ORDER_H

#include "table.h"

enum { PQ_MOST_TERMS = 4, PQ_BYTES_TO_ORDER = 16 };	/* memory for each row */

enum pq_direction { PQ_ASCENDING, PQ_DESCENDING };

struct pq_term {
	size_t column;
	enum pq_direction direction;
};

/* Returns whether rows can be in the order of the column. */
bool pq_is_ordered(const struct pc_column *c);

/* Returns the numbers of all rows in the order of n terms, the first one foremost, or NULL without
 * memory; to be freed. `columns` are the table's. */
uint32_t *pq_order_rows(const struct pq_table *t, const struct pc_column *columns,
			const struct pq_term *terms, size_t n);

#endif
