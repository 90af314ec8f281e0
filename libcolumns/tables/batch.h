/* batch.h - rows of a table, as an array for each column.
 *
 * Dictionaries belong to the batch, so memory is bounded: a batch is a row group of Parquet, and in
 * Arrow a record batch whose dictionaries replace those of the batch before. */
#ifndef PC_BATCH_H
#define PC_BATCH_H

#include "store/texts.h"
#include "tables/tables.h"

struct pc_array {
	const struct pc_column *column;
	/* The array of the list, for a member of structs: it has rows and offsets, the member has
	 * values only. Else NULL. */
	const struct pc_array *list;
	bool is_on;		/* false: of a group that nobody asked for */
	bool is_list;		/* pc_is_list() of its type */
	size_t width;		/* pc_width() of its type */
	size_t rows, nulls;
	struct pd_buf valid;	/* a byte for each row: 0 or 1 */
	/* Numbers in this machine's byte order; bool as a byte; of texts the int32_t in `texts`; of
	 * lists their items; of PC_LONG_TEXT and PC_BYTES the bytes; of structs a byte for each. A
	 * row that is NULL has a 0, or no items. */
	struct pd_buf values;
	struct pd_buf offsets;	/* int32_t, rows + 1: of pc_has_offsets(), in items */
	struct pc_texts texts;
};

struct pc_batch {
	const struct pc_table *table;	/* NULL: not wanted */
	struct pc_array *arrays;	/* of the table's columns */
	unsigned int *fields;		/* those of pc_is_field() */
	size_t nr_fields;
	size_t rows;
	bool failed;			/* without memory; sticky */
	struct pd_budget *budget;
	uint64_t *out_of_range;		/* of each column, values that do not fit, of all batches */
	bool is_for_counts;		/* rows are only made for `out_of_range` */
	size_t counted;			/* bytes, that are in pc_columns.side_size */
};

/* Which columns of a table are made. */
struct pc_selection {
	uint32_t with;		/* enum pc_group */
	uint64_t columns;	/* a bit for each */
};

static inline bool pc_selects(struct pc_selection s, const struct pc_table *table, size_t column)
{
	const struct pc_column *c = &table->columns[column];

	if (c->list)
		column = c->list;
	return (!c->group || c->group & s.with) && s.columns >> column & 1;
}

/* Returns 0, or -1 without memory. */
int pc_batch_init(struct pc_batch *b, const struct pc_table *table, struct pc_selection selection,
		  struct pd_budget *budget);
/* Removes all rows, and keeps the memory, unless half of all that there is are used. */
void pc_batch_clear(struct pc_batch *b);
void pc_batch_free(struct pc_batch *b);

/* Returns the bytes in all arrays. */
size_t pc_batch_size(const struct pc_batch *b);

/* Returns the bytes of a value, or of an item of a list; 1 for bytes, long texts and structs. */
size_t pc_width(enum pc_type of);
bool pc_is_list(enum pc_type type);
bool pc_has_offsets(enum pc_type type);
bool pc_has_texts(enum pc_type type);
/* Returns whether Arrow gets the texts of a column as a dictionary. It does not get those of items,
 * which DuckDB cannot read where all lists are empty. */
bool pc_is_dictionary(const struct pc_column *c);
/* Returns whether values are bytes between offsets. */
bool pc_is_bytes(enum pc_type type);

/* Returns the number of items of a list, of values or of structs, in all rows. */
static inline size_t pc_nr_items(const struct pc_array *a)
{
	return a->values.size / a->width;
}

/* Returns the array that has the rows of a column. */
static inline const struct pc_array *pc_rows_of(const struct pc_array *a)
{
	return a->list ? a->list : a;
}

/* Returns whether a column is made, and is no member of another. */
static inline bool pc_is_field(const struct pc_array *a)
{
	return a->is_on && !a->list;
}

/* Returns the number of columns that are members of the structs of list `column`; they follow
 * it. */
size_t pc_nr_members(const struct pc_table *table, size_t column);

/* Set a value of a column that is made. The functions below test that inline, because a query asks
 * for few columns of many. */
void pc_append_int(struct pc_batch *b, unsigned int column, int64_t value);
void pc_append_name(struct pc_batch *b, unsigned int column, const char *name);

/* The functions below set a value of the row after the last of `rows`, whose increment ends it. A
 * column that is not set is NULL, or 0, "" or an empty list if it cannot be. */
static inline void pc_set_int(struct pc_batch *b, unsigned int column, int64_t value)
{
	if (b->arrays[column].is_on)
		pc_append_int(b, column, value);
}

/* A number of PC_INT64 that has no sign: NULL if it does not fit. */
static inline void pc_set_count(struct pc_batch *b, unsigned int column, uint64_t value)
{
	if (value <= INT64_MAX)
		pc_set_int(b, column, (int64_t)value);
	else
		b->out_of_range[column] += b->arrays[column].is_on;
}

void pc_set_double(struct pc_batch *b, unsigned int column, double value);
void pc_set_bytes(struct pc_batch *b, unsigned int column, struct pd_bytes text);

/* NULL is NULL. */
static inline void pc_set_text(struct pc_batch *b, unsigned int column, const char *text)
{
	if (text && b->arrays[column].is_on)
		pc_set_bytes(b, column, pc_text_bytes(text));
}

/* The same of a PC_TEXT that stays where it is, unchanged, as long as there is the batch. */
static inline void pc_set_name(struct pc_batch *b, unsigned int column, const char *name)
{
	if (name && b->arrays[column].is_on)
		pc_append_name(b, column, name);
}

/* Set values of the n rows that follow, all of them valid, as an array of the column's width. */
void pc_append_rows(struct pc_batch *b, unsigned int column, const void *values, size_t n);
/* The same with numbers of PC_INT32; PC_NONE is NULL. */
void pc_append_numbers(struct pc_batch *b, unsigned int column, const uint32_t *numbers, size_t n);
/* The same as pc_set_count() n times. */
void pc_append_counts(struct pc_batch *b, unsigned int column, const uint64_t *counts, size_t n);
/* The same as pc_set_name() n times, with one name or one each. */
void pc_append_name_rows(struct pc_batch *b, unsigned int column, const char *name, size_t n);
void pc_append_names(struct pc_batch *b, unsigned int column, const char *const *names, size_t n);

/* Starts a list; its items follow. */
void pc_set_list(struct pc_batch *b, unsigned int column);
/* Starts a struct in a list; an item of each member follows. */
void pc_add_struct(struct pc_batch *b, unsigned int column);
void pc_add_item(struct pc_batch *b, unsigned int column, uint64_t item);
void pc_add_text(struct pc_batch *b, unsigned int column, struct pd_bytes text);
/* Makes the values of rows that were not set: must be called before a batch is read. */
void pc_batch_end(struct pc_batch *b);

/* Returns whether a value was lost for want of memory. */
bool pc_batch_failed(struct pc_batch *b);

/* Appends the texts of all items, and the int32_t offsets between them. */
void pc_expand_texts(const struct pc_array *a, struct pd_buf *offsets, struct pd_buf *texts);

/* Packs bytes of 0 and 1 into bits, the first one lowest: (bytes->size + 7) / 8 bytes. */
void pc_pack_bytes(uint8_t *to, const struct pd_buf *bytes);

static inline int32_t pc_offset_at(const struct pc_array *a, size_t row)
{
	return ((const int32_t *)(const void *)a->offsets.data)[row];
}

#endif
