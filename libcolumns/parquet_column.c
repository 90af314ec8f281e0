/* parquet_column.c - the pages of a column in a row group: a dictionary where one is worth it, and
 * pages of about 1 MiB, compressed by zstd. */
#include "parquet_column.h"

#include <string.h>

#include "encode.h"

enum { TYPE_BOOLEAN = 0, TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8 };
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { CODEC_ZSTD = 6 };
enum { ZSTD_LEVEL = 3, PAGE_VALUES = 1 << 17, DICTIONARY_MAX = 1 << 16 };
enum { PROBED = 1024 };	/* values of a column before it is seen that all differ */

/* A column while its pages are written. */
struct chunk {
	struct pc_parquet *p;
	const struct pc_array *a;
	const struct pc_array *rows;	/* pc_rows_of(a) */
	struct pc_index index;		/* of the numbers in the dictionary */
	int encoding;			/* of the values */
	bool is_list, has_nulls;
	size_t nr_values;		/* with NULLs and empty lists */
	size_t dictionary_size;
	uint64_t start, data_start, unpacked;
};

int pc_parquet_type(enum pc_type of)
{
	switch (of) {
	case PC_BOOL:
		return TYPE_BOOLEAN;
	case PC_INT32:
	case PC_INT32_LIST:
		return TYPE_INT32;
	case PC_DOUBLE:
		return TYPE_DOUBLE;
	case PC_TEXT:
	case PC_LONG_TEXT:
	case PC_BYTES:
	case PC_TEXT_LIST:
		return TYPE_BYTE_ARRAY;
	default:
		return TYPE_INT64;
	}
}

int pc_parquet_write(struct pc_parquet *p, const void *bytes, size_t n)
{
	if (!p->error && n)
		p->error = p->out.write(p->out.ctx, bytes, n);
	p->written += n;
	return p->error;
}

/* --- values --- */

static int64_t value_at(const struct pc_array *a, size_t i)
{
	const uint8_t *p = a->values.data;

	switch (pc_width(a->column->type)) {
	case 1:
		return p[i];
	case 4:
		return ((const int32_t *)(const void *)p)[i];
	default:
		return ((const int64_t *)(const void *)p)[i];
	}
}

/* Returns the number of the first item of a row, in `values`. */
static size_t first_item(const struct chunk *c, size_t row)
{
	return c->is_list ? (size_t)pc_offset_at(c->rows, row) : row;
}

static bool is_value(const struct chunk *c, size_t item)
{
	return c->is_list || c->a->valid.data[item];
}

static bool is_same_number(const void *ctx, uint32_t id, const void *key)
{
	const struct pc_parquet *p = ctx;

	return ((const int64_t *)(const void *)p->numbers.data)[id] == *(const int64_t *)key;
}

static uint32_t hash_number(int64_t value)
{
	return (uint32_t)pc_hash(0, (uint64_t)value);
}

/* Collects the different numbers, unless there are too many. */
static bool make_dictionary(struct chunk *c)
{
	struct pd_buf *numbers = &c->p->numbers;
	const size_t end = first_item(c, c->rows->rows), most = end / 2;
	size_t n = 0;

	for (size_t i = 0; i < end; i++) {
		const int64_t value = value_at(c->a, i);

		if (!is_value(c, i) || pc_index_find(&c->index, hash_number(value), is_same_number,
						     c->p, &value) != PC_NONE)
			continue;
		if (n == DICTIONARY_MAX || n >= most || n > PROBED + i / 4)
			return false;
		pd_buf_append(numbers, &value, sizeof(value));
		if (numbers->failed || pc_index_add(&c->index, hash_number(value), (uint32_t)n++))
			return false;
	}
	return n;
}

static void choose_encoding(struct chunk *c)
{
	const enum pc_type type = c->a->column->type;

	c->encoding = PLAIN;
	if (pc_has_texts(type) && c->a->texts.nr)
		c->encoding = RLE_DICTIONARY;
	if (pc_parquet_type(type) != TYPE_INT32 && pc_parquet_type(type) != TYPE_INT64)
		return;
	/* The lists of stacks repeat each other's ends, which zstd finds in deltas of whole bytes,
	 * but not in the packed bits of a dictionary's indices. */
	c->p->numbers.size = 0;
	c->encoding = !c->is_list && make_dictionary(c) ? RLE_DICTIONARY : DELTA_BINARY_PACKED;
}

/* --- pages --- */

static void put_page_header(struct chunk *c, int type, size_t values)
{
	struct pd_buf header = { .budget = c->p->budget };
	struct pc_thrift t = { .to = &header };

	pc_thrift_i32(&t, 1, type);
	pc_thrift_i32(&t, 2, (int32_t)c->p->page.size);
	pc_thrift_i32(&t, 3, (int32_t)c->p->packed.size);
	if (type == DATA_PAGE) {
		pc_thrift_struct(&t, 5);
		pc_thrift_i32(&t, 1, (int32_t)values);
		pc_thrift_i32(&t, 2, c->encoding);
		pc_thrift_i32(&t, 3, RLE);
		pc_thrift_i32(&t, 4, RLE);
	} else {
		pc_thrift_struct(&t, 7);
		pc_thrift_i32(&t, 1, (int32_t)values);
		pc_thrift_i32(&t, 2, PLAIN);
	}
	pc_thrift_end(&t);
	pc_thrift_end(&t);
	if (header.failed)
		c->p->error = -1;
	pc_parquet_write(c->p, header.data, header.size);
	c->unpacked += header.size + c->p->page.size;
	pd_buf_free(&header);
}

/* Compresses and writes p->page. */
static void write_page(struct chunk *c, int type, size_t values)
{
	struct pc_parquet *p = c->p;
	const size_t bound = ZSTD_compressBound(p->page.size);
	uint8_t *to;
	size_t n;

	p->packed.size = 0;
	to = p->page.failed || bound > INT32_MAX ? NULL : pd_buf_reserve(&p->packed, bound);
	n = to ? ZSTD_compressCCtx(p->compressor, to, bound, p->page.data ? p->page.data :
				   (const uint8_t *)"", p->page.size, ZSTD_LEVEL) : 0;
	if (!to || ZSTD_isError(n)) {
		p->error = p->error ? p->error : -1;
		return;
	}
	p->packed.size = n;
	put_page_header(c, type, values);
	pc_parquet_write(p, p->packed.data, p->packed.size);
}

static void put_text(struct pd_buf *to, struct pd_bytes text)
{
	pc_put_little(to, text.size, 4);
	pd_buf_append(to, text.data, text.size);
}

static void write_dictionary(struct chunk *c)
{
	struct pd_buf *page = &c->p->page;
	const struct pc_array *a = c->a;
	const size_t width = pc_width(a->column->type);

	page->size = 0;
	if (pc_has_texts(a->column->type)) {
		c->dictionary_size = a->texts.nr;
		for (size_t i = 0; i < a->texts.nr; i++)
			put_text(page, pc_texts_at(&a->texts, i));
	} else {
		c->dictionary_size = c->p->numbers.size / sizeof(int64_t);
		for (size_t i = 0; i < c->dictionary_size; i++)
			pc_put_little(page, (uint64_t)((const int64_t *)(const void *)
						       c->p->numbers.data)[i], width);
	}
	write_page(c, DICTIONARY_PAGE, c->dictionary_size);
}

/* Puts levels with their length. */
static void put_levels(struct chunk *c, const uint32_t *levels, size_t n, unsigned int bits)
{
	struct pd_buf *page = &c->p->page;
	const size_t start = page->size;

	pc_put_little(page, 0, 4);
	pc_encode_rle(page, levels, n, bits);
	if (!page->failed)
		pc_store_little(page->data + start, page->size - start - 4, 4);
}

/* Puts the levels of rows. Returns how many there are. */
static size_t put_row_levels(struct chunk *c, size_t from, size_t to)
{
	const bool is_nullable = c->rows->column->null == PC_NULLABLE;
	struct pd_buf repeats = { .budget = c->p->budget }, defs = { .budget = c->p->budget };
	size_t n = 0;

	for (size_t row = from; row < to; row++) {
		const bool is_there = c->rows->valid.data[row];
		const size_t items = c->is_list ? first_item(c, row + 1) - first_item(c, row) : 0;

		for (size_t i = 0; i < (items ? items : 1); i++) {
			const uint32_t repeat = i > 0;
			const uint32_t def = !c->is_list ? is_there :
				is_nullable ? (items ? 2 : is_there) : items > 0;

			if (c->is_list)
				pd_buf_append(&repeats, &repeat, sizeof(repeat));
			if (is_nullable || c->is_list)
				pd_buf_append(&defs, &def, sizeof(def));
			n++;
		}
	}
	if (c->is_list)
		put_levels(c, (const uint32_t *)(const void *)repeats.data, n, 1);
	if (is_nullable || c->is_list)
		put_levels(c, (const uint32_t *)(const void *)defs.data, n,
			   c->is_list && is_nullable ? 2 : 1);
	if (repeats.failed || defs.failed)
		c->p->error = -1;
	pd_buf_free(&repeats);
	pd_buf_free(&defs);
	return n;
}

static void put_indices(struct chunk *c, size_t from, size_t to)
{
	const unsigned int bits = pc_bits(c->dictionary_size - 1);
	struct pd_buf *values = &c->p->values;
	const bool has_texts = pc_has_texts(c->a->column->type);

	values->size = 0;
	for (size_t i = from; i < to; i++) {
		const int64_t value = value_at(c->a, i);
		uint32_t index = (uint32_t)value;

		if (!is_value(c, i))
			continue;
		if (!has_texts)
			index = pc_index_find(&c->index, hash_number(value), is_same_number, c->p,
					      &value);
		pd_buf_append(values, &index, sizeof(index));
	}
	pc_put_byte(&c->p->page, bits ? bits : 1);
	if (!values->failed)
		pc_encode_rle(&c->p->page, (const uint32_t *)(const void *)values->data,
			      values->size / sizeof(uint32_t), bits ? bits : 1);
}

static void put_deltas(struct chunk *c, size_t from, size_t to)
{
	struct pd_buf *values = &c->p->values;

	values->size = 0;
	for (size_t i = from; i < to; i++) {
		const int64_t value = value_at(c->a, i);

		if (is_value(c, i))
			pd_buf_append(values, &value, sizeof(value));
	}
	if (!values->failed)
		pc_encode_delta(&c->p->page, (const int64_t *)(const void *)values->data,
				values->size / sizeof(int64_t), pc_width(c->a->column->type));
}

static void put_plain(struct chunk *c, size_t from, size_t to)
{
	const struct pc_array *a = c->a;
	struct pd_buf *page = &c->p->page, *values = &c->p->values;

	values->size = 0;
	for (size_t i = from; i < to; i++) {
		const uint64_t value = pc_is_bytes(a->column->type) || !a->values.size ? 0 :
			(uint64_t)value_at(a, i);

		if (!is_value(c, i))
			continue;
		if (pc_is_bytes(a->column->type))
			put_text(page, (struct pd_bytes){
				a->values.data + pc_offset_at(a, i),
				(size_t)(pc_offset_at(a, i + 1) - pc_offset_at(a, i)) });
		else if (a->column->type == PC_BOOL)
			pd_buf_append(values, &value, sizeof(value));
		else
			pc_put_little(page, value, pc_width(a->column->type));
	}
	if (a->column->type == PC_BOOL && !values->failed)
		pc_pack_bits(page, (const uint64_t *)(const void *)values->data,
			     values->size / sizeof(uint64_t), 1);
}

static void write_rows(struct chunk *c, size_t from, size_t to)
{
	size_t levels;

	c->p->page.size = 0;
	levels = put_row_levels(c, from, to);
	from = first_item(c, from);
	to = first_item(c, to);
	if (c->encoding == RLE_DICTIONARY)
		put_indices(c, from, to);
	else if (c->encoding == DELTA_BINARY_PACKED)
		put_deltas(c, from, to);
	else
		put_plain(c, from, to);
	if (c->p->values.failed)
		c->p->error = -1;
	write_page(c, DATA_PAGE, levels);
	c->nr_values += levels;
}

/* Returns the first row that no longer belongs to the page of row `from`. */
static size_t end_of_page(const struct chunk *c, size_t from)
{
	size_t row = from, used = 0;

	while (row < c->rows->rows && used < PAGE_VALUES) {
		used += c->is_list ? 1 + first_item(c, row + 1) - first_item(c, row) : 1;
		if (pc_is_bytes(c->a->column->type))
			used += (size_t)(pc_offset_at(c->a, row + 1) - pc_offset_at(c->a, row)) / 8;
		row++;
	}
	return row;
}

/* --- metadata --- */

/* Minimum and maximum of signed numbers; those of unsigned ones and texts are left out. */
static void put_statistics(const struct chunk *c, struct pc_thrift *t)
{
	const struct pc_array *a = c->a;
	const size_t width = pc_width(a->column->type);
	int64_t least = INT64_MAX, most = INT64_MIN;
	uint8_t bytes[8];

	pc_thrift_struct(t, 12);
	pc_thrift_i64(t, 3, (int64_t)c->rows->nulls);
	for (size_t i = 0; i < a->rows && (a->column->type == PC_INT32 ||
					   a->column->type == PC_INT64); i++) {
		const int64_t value = value_at(a, i);

		if (!a->valid.data[i])
			continue;
		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	if (least <= most) {
		pc_store_little(bytes, (uint64_t)most, width);
		pc_thrift_bytes(t, 5, (struct pd_bytes){ bytes, width });
		pc_store_little(bytes, (uint64_t)least, width);
		pc_thrift_bytes(t, 6, (struct pd_bytes){ bytes, width });
	}
	pc_thrift_end(t);
}

static void put_path(const struct chunk *c, struct pc_thrift *t)
{
	pc_thrift_list(t, 3, PC_THRIFT_BINARY, c->a->list ? 4 : c->is_list ? 3 : 1);
	pc_thrift_text_item(t, c->rows->column->name);
	if (c->is_list) {
		pc_thrift_text_item(t, "list");
		pc_thrift_text_item(t, "element");
	}
	if (c->a->list)
		pc_thrift_text_item(t, c->a->column->name);
}

static void put_metadata(const struct chunk *c, struct pc_thrift *t)
{
	const bool has_dictionary = c->encoding == RLE_DICTIONARY;

	pc_thrift_struct_item(t);
	pc_thrift_i64(t, 2, (int64_t)c->start);
	pc_thrift_struct(t, 3);
	pc_thrift_i32(t, 1, pc_parquet_type(c->a->column->type));
	pc_thrift_list(t, 2, PC_THRIFT_I32, has_dictionary ? 3 : 2);
	pc_thrift_i32_item(t, RLE);
	pc_thrift_i32_item(t, c->encoding);
	if (has_dictionary)
		pc_thrift_i32_item(t, PLAIN);
	put_path(c, t);
	pc_thrift_i32(t, 4, CODEC_ZSTD);
	pc_thrift_i64(t, 5, (int64_t)c->nr_values);
	pc_thrift_i64(t, 6, (int64_t)c->unpacked);
	pc_thrift_i64(t, 7, (int64_t)(c->p->written - c->start));
	pc_thrift_i64(t, 9, (int64_t)c->data_start);
	if (has_dictionary)
		pc_thrift_i64(t, 11, (int64_t)c->start);
	put_statistics(c, t);
	pc_thrift_end(t);
	pc_thrift_end(t);
}

void pc_parquet_column(struct pc_parquet *p, const struct pc_array *a, struct pc_thrift *t)
{
	struct chunk c = { .p = p, .a = a, .rows = pc_rows_of(a), .index.budget = p->budget,
			   .start = p->written,
			   .is_list = pc_is_list(pc_rows_of(a)->column->type) };

	choose_encoding(&c);
	if (c.encoding == RLE_DICTIONARY)
		write_dictionary(&c);
	c.data_start = p->written;
	for (size_t row = 0; row < c.rows->rows && !p->error;) {
		const size_t end = end_of_page(&c, row);

		write_rows(&c, row, end);
		row = end;
	}
	put_metadata(&c, t);
	pc_index_free(&c.index);
}
