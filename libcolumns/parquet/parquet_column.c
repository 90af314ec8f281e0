/* parquet_column.c - the pages of a column in a row group: a dictionary where one is worth it, and
 * pages of about 1 MiB, compressed by zstd. */
#include "parquet/parquet_column.h"

#include <string.h>

#include "encoding/encode.h"

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
	bool is_list;
	size_t nr_values;		/* with NULLs and empty lists */
	size_t dictionary_size;
	size_t next_index;		/* in p->indices, of the next page's first */
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

/* Returns the number of the first item of a row, in `values`. */
static size_t first_item(const struct chunk *c, size_t row)
{
	return c->is_list ? (size_t)pc_offset_at(c->rows, row) : row;
}

/* Puts the numbers of items that are not NULL into an array. Returns how many there are. */
static size_t collect(const struct pc_array *a, const uint8_t *valid, size_t from, size_t to,
		      int64_t *out)
{
	const uint8_t *bytes = a->values.data;
	const int32_t *halves = (const int32_t *)(const void *)bytes;
	const int64_t *wholes = (const int64_t *)(const void *)bytes;
	size_t n = 0;

	/* a NULL is written, too, and then overwritten: that needs no jumps */
	if (a->width == 8)
		for (size_t i = from; i < to; i++) {
			out[n] = wholes[i];
			n += valid ? valid[i] : 1;
		}
	else if (a->width == 4)
		for (size_t i = from; i < to; i++) {
			out[n] = halves[i];
			n += valid ? valid[i] : 1;
		}
	else
		for (size_t i = from; i < to; i++) {
			out[n] = bytes[i];
			n += valid ? valid[i] : 1;
		}
	return n;
}

/* Returns an array of the numbers that are not NULL, of n; NULL without memory. */
static const int64_t *numbers_between(struct chunk *c, size_t from, size_t to, size_t *n)
{
	const uint8_t *valid = c->is_list || !c->a->nulls ? NULL : c->a->valid.data;
	struct pd_buf *values = &c->p->values;
	int64_t *out;

	values->size = 0;
	out = (int64_t *)(void *)pd_buf_reserve(values, (to - from + 1) * sizeof(*out));
	*n = out ? collect(c->a, valid, from, to, out) : 0;
	return out;
}

static bool is_same_number(const void *ctx, uint32_t id, const void *key)
{
	const struct pc_parquet *p = ctx;

	return ((const int64_t *)(const void *)p->numbers.data)[id] == *(const int64_t *)key;
}

/* Returns the index of a number in the dictionary, where it is added if it is new; PC_NONE without
 * memory, or if the dictionary is full. */
static uint32_t index_of(struct chunk *c, int64_t value, size_t most)
{
	struct pd_buf *numbers = &c->p->numbers;
	const uint32_t hash = (uint32_t)pd_hash_mix(pc_index_seed(&c->index), (uint64_t)value);
	const uint32_t found = pc_index_find(&c->index, hash, is_same_number, c->p, &value);
	const size_t n = numbers->size / sizeof(value);

	if (found != PC_NONE)
		return found;
	if (n >= most)
		return PC_NONE;
	pd_buf_append(numbers, &value, sizeof(value));
	if (numbers->failed || pc_index_add(&c->index, hash, (uint32_t)n))
		return PC_NONE;
	return (uint32_t)n;
}

/* Adds the numbers of a part, and their indices. Returns false if too many differ. */
static bool add_numbers(struct chunk *c, size_t from, size_t to, size_t most)
{
	struct pd_buf *indices = &c->p->indices;
	uint32_t *out, last = 0;
	const int64_t *values;
	size_t n;

	values = numbers_between(c, from, to, &n);
	out = (uint32_t *)(void *)pd_buf_reserve(indices, (to - from) * sizeof(*out));
	if (!values || !out)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!i || values[i] != values[i - 1])
			last = index_of(c, values[i], most);
		if (last == PC_NONE || last > PROBED + (from + i) / 4)
			return false;
		out[i] = last;
	}
	indices->size += n * sizeof(*out);
	return true;
}

/* Makes a dictionary, unless too many numbers differ. */
static bool make_dictionary(struct chunk *c)
{
	const size_t end = first_item(c, c->rows->rows),
		     most = end / 2 < DICTIONARY_MAX ? end / 2 : DICTIONARY_MAX;

	c->p->numbers.size = c->p->indices.size = 0;
	for (size_t from = 0; from < end; from += PROBED)
		if (!add_numbers(c, from, end - from < PROBED ? end : from + PROBED, most))
			return false;
	return c->p->numbers.size;
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

/* Puts the levels of rows that are no lists. */
static void put_flat_levels(struct chunk *c, size_t from, size_t to)
{
	const struct pc_array *a = c->rows;
	struct pd_buf *values = &c->p->values;
	uint32_t *levels;

	values->size = 0;
	levels = (uint32_t *)(void *)pd_buf_reserve(values, (to - from) * sizeof(*levels));
	for (size_t i = from; levels && i < to; i++)
		levels[i - from] = a->valid.data[i];
	if (levels)
		put_levels(c, levels, to - from, 1);
}

/* Puts the levels of rows that are lists. Returns how many there are. */
static size_t put_list_levels(struct chunk *c, size_t from, size_t to)
{
	const bool is_nullable = c->rows->column->null == PC_NULLABLE;
	const size_t most = to - from + first_item(c, to) - first_item(c, from);
	struct pd_buf *values = &c->p->values;
	uint32_t *repeats, *defs;
	size_t n = 0;

	values->size = 0;
	repeats = (uint32_t *)(void *)pd_buf_reserve(values, 2 * most * sizeof(*repeats));
	if (!repeats)
		return 0;
	defs = repeats + most;
	for (size_t row = from; row < to; row++) {
		const uint32_t is_there = c->rows->valid.data[row];
		const size_t items = first_item(c, row + 1) - first_item(c, row);

		for (size_t i = 0; i < (items ? items : 1); i++, n++) {
			repeats[n] = i > 0;
			defs[n] = !is_nullable ? items > 0 : items ? 2 : is_there;
		}
	}
	put_levels(c, repeats, n, 1);
	put_levels(c, defs, n, is_nullable ? 2 : 1);
	return n;
}

/* Puts the levels of rows. Returns how many there are. */
static size_t put_row_levels(struct chunk *c, size_t from, size_t to)
{
	if (c->is_list)
		return put_list_levels(c, from, to);
	if (c->rows->column->null == PC_NULLABLE)
		put_flat_levels(c, from, to);
	return to - from;
}

static void put_rle(struct chunk *c, const uint32_t *indices, size_t n)
{
	const unsigned int bits = pc_bits(c->dictionary_size - 1);

	pc_put_byte(&c->p->page, bits ? bits : 1);
	pc_encode_rle(&c->p->page, indices, n, bits ? bits : 1);
}

/* Texts have their indices in the column. */
static void put_text_indices(struct chunk *c, size_t from, size_t to)
{
	const uint32_t *ids = (const uint32_t *)(const void *)c->a->values.data;
	const uint8_t *valid = c->a->valid.data;
	struct pd_buf *values = &c->p->values;
	uint32_t *out;
	size_t n = 0;

	if (c->is_list || !c->a->nulls) {
		put_rle(c, ids + from, to - from);
		return;
	}
	values->size = 0;
	out = (uint32_t *)(void *)pd_buf_reserve(values, (to - from + 1) * sizeof(*out));
	for (size_t i = from; out && i < to; i++) {
		out[n] = ids[i];
		n += valid[i];
	}
	if (out)
		put_rle(c, out, n);
}

static void put_indices(struct chunk *c, size_t from, size_t to)
{
	const uint32_t *indices = (const uint32_t *)(const void *)c->p->indices.data;
	size_t n = to - from;

	if (pc_has_texts(c->a->column->type)) {
		put_text_indices(c, from, to);
		return;
	}
	for (size_t i = from; c->a->nulls && i < to; i++)
		n -= !c->a->valid.data[i];
	put_rle(c, indices + c->next_index, n);
	c->next_index += n;
}

static void put_deltas(struct chunk *c, size_t from, size_t to)
{
	size_t n;
	const int64_t *values = numbers_between(c, from, to, &n);

	if (values)
		pc_encode_delta(&c->p->page, values, n, c->a->width);
}

static void put_bytes(struct chunk *c, size_t from, size_t to)
{
	const struct pc_array *a = c->a;

	for (size_t i = from; i < to; i++)
		if (a->valid.data[i])
			put_text(&c->p->page, (struct pd_bytes){
				a->values.data + pc_offset_at(a, i),
				(size_t)(pc_offset_at(a, i + 1) - pc_offset_at(a, i)) });
}

static void put_plain(struct chunk *c, size_t from, size_t to)
{
	struct pd_buf *page = &c->p->page;
	const int64_t *values;
	size_t n;

	if (pc_is_bytes(c->a->column->type)) {
		put_bytes(c, from, to);
		return;
	}
	values = numbers_between(c, from, to, &n);
	if (values && c->a->column->type == PC_BOOL)
		pc_pack_bits(page, (const uint64_t *)values, n, 1);
	for (size_t i = 0; values && c->a->column->type != PC_BOOL && i < n; i++)
		pc_put_little(page, (uint64_t)values[i], c->a->width);
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
	if (c->p->values.failed || c->p->numbers.failed || c->p->indices.failed)
		c->p->error = -1;
	write_page(c, DATA_PAGE, levels);
	c->nr_values += levels;
}

/* Returns the first row that no longer belongs to the page of row `from`. */
static size_t end_of_page(const struct chunk *c, size_t from)
{
	const bool is_bytes = pc_is_bytes(c->a->column->type);
	const size_t left = c->rows->rows - from;
	size_t row = from, used = 0;

	if (!c->is_list && !is_bytes)
		return from + (left < PAGE_VALUES ? left : PAGE_VALUES);
	while (row < c->rows->rows && used < PAGE_VALUES) {
		used += c->is_list ? 1 + first_item(c, row + 1) - first_item(c, row) : 1;
		if (is_bytes)
			used += (size_t)(pc_offset_at(c->a, row + 1) - pc_offset_at(c->a, row)) / 8;
		row++;
	}
	return row;
}

/* --- metadata --- */

struct range {
	int64_t least, most;
};

static void widen_range(struct range *r, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		r->least = values[i] < r->least ? values[i] : r->least;
		r->most = values[i] > r->most ? values[i] : r->most;
	}
}

/* Returns the range of the numbers that are not NULL: the least is above the largest if there are
 * none. */
static struct range find_range(struct chunk *c)
{
	const struct pd_buf *numbers = &c->p->numbers;
	const size_t rows = c->a->rows;
	struct range r = { INT64_MAX, INT64_MIN };

	if (c->encoding == RLE_DICTIONARY) {
		widen_range(&r, (const int64_t *)(const void *)numbers->data,
			    numbers->size / sizeof(int64_t));
		return r;
	}
	for (size_t from = 0; from < rows; from += PROBED) {
		size_t n;
		const int64_t *values = numbers_between(
			c, from, rows - from < PROBED ? rows : from + PROBED, &n);

		widen_range(&r, values, values ? n : 0);
	}
	return r;
}

/* Minimum and maximum of signed numbers; those of unsigned ones and texts are left out. */
static void put_statistics(struct chunk *c, struct pc_thrift *t)
{
	const enum pc_type type = c->a->column->type;
	const size_t width = c->a->width;
	struct range r = { 1, 0 };
	uint8_t bytes[8];

	pc_thrift_struct(t, 12);
	pc_thrift_i64(t, 3, (int64_t)c->rows->nulls);
	if (type == PC_INT32 || type == PC_INT64)
		r = find_range(c);
	if (r.least <= r.most) {
		pc_store_little(bytes, (uint64_t)r.most, width);
		pc_thrift_bytes(t, 5, (struct pd_bytes){ bytes, width });
		pc_store_little(bytes, (uint64_t)r.least, width);
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

static void put_metadata(struct chunk *c, struct pc_thrift *t)
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
