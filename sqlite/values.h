/* values.h - the values of Arrow's arrays, as those of SQLite. */
#ifndef PQ_VALUES_H
#define PQ_VALUES_H

#include <sqlite3.h>

#include "pd/columns.h"

/* A value: of a column's array in a batch. */
struct pq_value {
	const struct ArrowArray *array;
	const struct pc_column *column;	/* in its table */
	int64_t row;
	sqlite3_int64 base;	/* added to numbers that belong to the recording */
};

/* Returns whether the values are numbers of stacks, frames, objects or events, or lists of them. */
bool pq_is_number(const struct pc_column *c);

/* Returns whether the column is a list of structs, or a member of one. */
bool pq_has_structs(const struct pc_column *c);

/* Returns whether `select *` leaves the column out. */
bool pq_is_hidden(const struct pc_column *c);

/* Returns whether the column's values are integers. */
bool pq_is_integer(const struct pc_column *c);

enum { PQ_NAME_SIZE = 64 };

/* Returns the column's name in SQL, made in `buf`: "branch.from" of a member of structs;
 * source_file, since `file` is the recording. */
const char *pq_column_name(const struct pc_table *t, size_t column, char buf[PQ_NAME_SIZE]);

/* Returns the type of the column's values in SQL. Static. */
const char *pq_type_name(const struct pc_column *c);

/* Returns the place of a column among those of a batch; of a member that of its list. */
int64_t pq_child(uint64_t columns, size_t column);

/* Sets *out to an integer as it is in the array. Returns false if it is NULL. */
bool pq_integer(const struct ArrowArray *a, const struct pc_column *c, int64_t row, int64_t *out);

/* Returns a text of an array of texts, such as a dictionary, and sets *n. */
const char *pq_text_at(const struct ArrowArray *a, int64_t i, size_t *n);

/* Returns the items of a list and sets *first. */
int64_t pq_items(const struct ArrowArray *a, int64_t row, int64_t *first);

/* Passes the value to SQLite: lists are JSON texts. The value of a member of structs is its list in
 * the row. */
void pq_give(sqlite3_context *to, const struct pq_value *v);

#endif
