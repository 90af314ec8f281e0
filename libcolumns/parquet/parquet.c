/* parquet.c - one Parquet file: row groups from batches, and the footer.
 *
 * Source: README.md, LogicalTypes.md and parquet.thrift in the parquet-format repository. */
#include "parquet/parquet.h"

#include "encoding/thrift.h"
#include "parquet/parquet_column.h"

enum { REPEAT_REQUIRED, REPEAT_OPTIONAL, REPEAT_REPEATED };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3, CONVERTED_UINT_64 = 14 };
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_INTEGER = 10 };

static const char magic[4] = { 'P', 'A', 'R', '1' };

static bool is_on(const struct pc_parquet *p, size_t column)
{
	return pc_selects(p->selection, p->table, column);
}

int pc_parquet_begin(struct pc_parquet *p)
{
	p->groups.bytes.budget = p->page.budget = p->packed.budget = p->numbers.budget =
		p->indices.budget = p->values.budget = p->budget;
	pc_row_order_init(&p->order, p->budget);
	return pc_parquet_write(p, magic, sizeof(magic));
}

/* Frees what one row group needs: the next one may be of another file. */
static void free_pages(struct pc_parquet *p)
{
	pd_buf_free(&p->page);
	pd_buf_free(&p->packed);
	pd_buf_free(&p->numbers);
	pd_buf_free(&p->indices);
	pd_buf_free(&p->values);
	pc_row_order_free(&p->order);
}

void pc_parquet_free(struct pc_parquet *p)
{
	pc_group_metadata_free(&p->groups);
	free_pages(p);
}

/* Lists of structs have no values of their own. */
static bool is_leaf(const struct pc_parquet *p, size_t column)
{
	return is_on(p, column) && p->table->columns[column].type != PC_STRUCT_LIST;
}

static size_t nr_leaves(const struct pc_parquet *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->table->nr_columns; i++)
		n += is_leaf(p, i);
	return n;
}

int pc_parquet_group(struct pc_parquet *p, struct pc_batch *b)
{
	struct pc_thrift t = { .to = &p->groups.bytes };
	const uint64_t start = p->written;

	if (!b->rows || p->error)
		return p->error;
	if (pc_order_rows(&p->order, b))
		return p->error = -1;
	pc_thrift_list(&t, 1, PC_THRIFT_STRUCT, nr_leaves(p));
	for (size_t i = 0; i < b->table->nr_columns && !p->error; i++)
		if (is_leaf(p, i))
			pc_parquet_column(p, &b->arrays[i], &t);
	pc_thrift_i64(&t, 2, (int64_t)(p->written - start));
	pc_thrift_i64(&t, 3, (int64_t)b->rows);
	pc_thrift_end(&t);
	free_pages(p);
	if (!p->error)
		p->error = pc_group_metadata_keep(&p->groups);
	p->rows += b->rows;
	p->nr_groups++;
	return p->error;
}

/* --- the schema --- */

static void put_text_type(struct pc_thrift *t)
{
	pc_thrift_i32(t, 6, CONVERTED_UTF8);
}

static void put_logical(struct pc_thrift *t, int logical)
{
	pc_thrift_struct(t, 10);
	pc_thrift_struct(t, logical);
	if (logical == LOGICAL_INTEGER) {
		pc_thrift_byte(t, 1, 64);
		pc_thrift_bool(t, 2, false);
	}
	pc_thrift_end(t);
	pc_thrift_end(t);
}

/* Returns the number that LogicalType has for it, 0: none. */
static int logical_of(const struct pc_parquet *p, enum pc_type of)
{
	switch (of) {
	case PC_TEXT:
	case PC_LONG_TEXT:
	case PC_TEXT_LIST:
		return LOGICAL_STRING;
	case PC_UINT64:
	case PC_UINT64_LIST:
		return p->uint64 == PC_AS_INT64 ? 0 : LOGICAL_INTEGER;
	default:
		return 0;
	}
}

static void put_leaf(const struct pc_parquet *p, struct pc_thrift *t, const struct pc_column *c,
		     const char *name, int repetition, int field_id)
{
	const int logical = logical_of(p, c->type);

	pc_thrift_struct_item(t);
	pc_thrift_i32(t, 1, pc_parquet_type(c->type));
	pc_thrift_i32(t, 3, repetition);
	pc_thrift_text(t, 4, name);
	if (logical == LOGICAL_STRING)
		put_text_type(t);
	else if (logical)
		pc_thrift_i32(t, 6, CONVERTED_UINT_64);
	if (field_id)
		pc_thrift_i32(t, 9, field_id);
	if (logical)
		put_logical(t, logical);
	pc_thrift_end(t);
}

/* Starts an element that has `children`. */
static void begin_inner(struct pc_thrift *t, int repetition, const char *name, size_t children)
{
	pc_thrift_struct_item(t);
	pc_thrift_i32(t, 3, repetition);
	pc_thrift_text(t, 4, name);
	pc_thrift_i32(t, 5, (int32_t)children);
}

static int repetition_of(const struct pc_column *c)
{
	return c->null == PC_REQUIRED ? REPEAT_REQUIRED : REPEAT_OPTIONAL;
}

static void put_list(const struct pc_parquet *p, struct pc_thrift *t, size_t column)
{
	const struct pc_column *c = &p->table->columns[column];
	const size_t members = pc_nr_members(p->table, column);

	begin_inner(t, repetition_of(c), c->name, 1);
	pc_thrift_i32(t, 6, CONVERTED_LIST);
	pc_thrift_i32(t, 9, (int)column + 1);
	put_logical(t, LOGICAL_LIST);
	pc_thrift_end(t);
	begin_inner(t, REPEAT_REPEATED, "list", 1);
	pc_thrift_end(t);
	if (!members) {
		put_leaf(p, t, c, "element", REPEAT_REQUIRED, 0);
		return;
	}
	begin_inner(t, REPEAT_REQUIRED, "element", members);
	pc_thrift_end(t);
	for (size_t i = column + 1; i <= column + members; i++)
		put_leaf(p, t, &p->table->columns[i], p->table->columns[i].name, REPEAT_REQUIRED,
			 (int)i + 1);
}

static void put_column(const struct pc_parquet *p, struct pc_thrift *t, size_t column)
{
	const struct pc_column *c = &p->table->columns[column];

	if (pc_is_list(c->type))
		put_list(p, t, column);
	else if (!c->list)
		put_leaf(p, t, c, c->name, repetition_of(c), (int)column + 1);
}

static void put_schema(const struct pc_parquet *p, struct pc_thrift *t)
{
	size_t elements = 1;
	int columns = 0;

	for (size_t i = 0; i < p->table->nr_columns; i++)
		if (is_on(p, i)) {
			elements += pc_is_list(p->table->columns[i].type) ? 3 : 1;
			columns += !p->table->columns[i].list;
		}
	pc_thrift_list(t, 2, PC_THRIFT_STRUCT, elements);
	pc_thrift_struct_item(t);
	pc_thrift_text(t, 4, p->table->name);
	pc_thrift_i32(t, 5, columns);
	pc_thrift_end(t);
	for (size_t i = 0; i < p->table->nr_columns; i++)
		if (is_on(p, i))
			put_column(p, t, i);
}

/* --- the footer --- */

static void put_pair(struct pc_thrift *t, struct pc_pair pair)
{
	pc_thrift_struct_item(t);
	pc_thrift_text(t, 1, pair.key);
	pc_thrift_text(t, 2, pair.value);
	pc_thrift_end(t);
}

/* Minima and maxima count only in files that state the order of each column: that of its type. */
static void put_orders(const struct pc_parquet *p, struct pc_thrift *t)
{
	size_t columns = nr_leaves(p);

	pc_thrift_list(t, 7, PC_THRIFT_STRUCT, columns);
	while (columns--) {
		pc_thrift_struct_item(t);
		pc_thrift_struct(t, 1);
		pc_thrift_end(t);
		pc_thrift_end(t);
	}
}

/* Writes the part of the footer that is in p->page. */
static void write_part(struct pc_parquet *p)
{
	if (!p->error && p->page.failed)
		p->error = -1;
	pc_parquet_write(p, p->page.data, p->page.size);
	p->page.size = 0;
}

static void write_groups(struct pc_parquet *p)
{
	if (!p->error)
		p->error = pc_group_metadata_write(&p->groups, p->out);
	p->written += pc_group_metadata_size(&p->groups);
}

int pc_parquet_end(struct pc_parquet *p)
{
	const uint64_t start = p->written;
	struct pc_thrift t = { .to = &p->page };
	uint8_t size[4];

	p->page.size = 0;
	pc_thrift_i32(&t, 1, 1);
	put_schema(p, &t);
	pc_thrift_i64(&t, 3, (int64_t)p->rows);
	pc_thrift_list(&t, 4, PC_THRIFT_STRUCT, p->nr_groups);
	write_part(p);
	write_groups(p);
	pc_thrift_list(&t, 5, PC_THRIFT_STRUCT, PC_NR_PAIRS);
	for (size_t i = 0; i < PC_NR_PAIRS; i++)
		put_pair(&t, pc_pair_at(i, p->uint64));
	pc_thrift_text(&t, 6, "libpdcolumns");
	put_orders(p, &t);
	pc_thrift_end(&t);
	write_part(p);
	if (!p->error && p->written - start > INT32_MAX)
		p->error = -1;
	pc_store_little(size, p->written - start, sizeof(size));
	pc_parquet_write(p, size, sizeof(size));
	return pc_parquet_write(p, magic, sizeof(magic));
}
