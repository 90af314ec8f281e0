/* parquet_column.c - the pages of a column in a row group: a dictionary where one is worth it, and
 * pages of about 1 MiB, compressed by zstd. */
#include "parquet/parquet_column.h"

#include "parquet/chunk.h"

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { CODEC_ZSTD = 6 };
enum { PAGE_VALUES = 1 << 17, PAGE_ITEMS = 1 << 18 };	/* items: stacks are like those before */
enum { PART = 1024 };	/* values that are in a near cache of the CPU */
enum { MOST_PACKED = 3 };	/* bits of an index in a dictionary that are packed */

int pc_parquet_write(struct pc_parquet *p, const void *bytes, size_t n)
{
	if (!p->error && n)
		p->error = p->out.write(p->out.ctx, bytes, n);
	p->written += n;
	return p->error;
}

/* --- pages --- */

static void put_page_header(struct pc_chunk *c, int type, size_t values)
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
		pc_thrift_i32(&t, 3, PC_RLE);
		pc_thrift_i32(&t, 4, PC_RLE);
	} else {
		pc_thrift_struct(&t, 7);
		pc_thrift_i32(&t, 1, (int32_t)values);
		pc_thrift_i32(&t, 2, PC_PLAIN);
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
static void write_page(struct pc_chunk *c, int type, size_t values)
{
	struct pc_parquet *p = c->p;

	if (pc_compress_page(p)) {
		p->error = p->error ? p->error : -1;
		return;
	}
	put_page_header(c, type, values);
	pc_parquet_write(p, p->packed.data, p->packed.size);
}

static void put_text(struct pd_buf *to, struct pd_bytes text)
{
	pc_put_little(to, text.size, 4);
	pd_buf_append(to, text.data, text.size);
}

static void write_dictionary(struct pc_chunk *c)
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

/* Puts room for the length of the levels that follow. Returns where it is. */
static size_t begin_levels(struct pc_chunk *c)
{
	const size_t start = c->p->page.size;

	pc_put_little(&c->p->page, 0, 4);
	return start;
}

static void end_levels(struct pc_chunk *c, size_t start)
{
	struct pd_buf *page = &c->p->page;

	if (!page->failed)
		pc_store_little(page->data + start, page->size - start - 4, 4);
}

static void put_levels(struct pc_chunk *c, const uint32_t *levels, size_t n, unsigned int bits,
		       pc_encode_fn encode)
{
	const size_t start = begin_levels(c);

	encode(&c->p->page, levels, n, bits);
	end_levels(c, start);
}

/* Puts a level that all rows have. */
static void put_one_level(struct pc_chunk *c, uint32_t level, size_t n)
{
	const size_t start = begin_levels(c);

	pc_encode_run(&c->p->page, level, n, 1);
	end_levels(c, start);
}

/* Puts the levels of rows that are no lists. */
static void put_flat_levels(struct pc_chunk *c, size_t from, size_t to)
{
	const struct pc_array *a = c->rows;
	struct pd_buf *values = &c->p->values;
	uint32_t *levels;

	if (!a->nulls || a->nulls == a->rows) {
		put_one_level(c, !a->nulls, to - from);
		return;
	}
	values->size = 0;
	levels = (uint32_t *)(void *)pd_buf_reserve(values, (to - from) * sizeof(*levels));
	for (size_t i = from; levels && i < to; i++)
		levels[i - from] = a->valid.data[i];
	if (levels)
		put_levels(c, levels, to - from, 1, pc_encode_rle);
}

/* Puts the levels of rows that are lists. Returns how many there are. */
static size_t put_list_levels(struct pc_chunk *c, size_t from, size_t to)
{
	const bool is_nullable = c->rows->column->null == PC_NULLABLE;
	const size_t most = to - from + pc_first_item(c, to) - pc_first_item(c, from);
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
		const size_t items = pc_first_item(c, row + 1) - pc_first_item(c, row);

		for (size_t i = 0; i < (items ? items : 1); i++, n++) {
			repeats[n] = i > 0;
			defs[n] = !is_nullable ? items > 0 : items ? 2 : is_there;
		}
	}
	put_levels(c, repeats, n, 1, pc_encode_groups);
	put_levels(c, defs, n, is_nullable ? 2 : 1, pc_encode_rle);
	return n;
}

/* Puts the levels of rows. Returns how many there are. */
static size_t put_row_levels(struct pc_chunk *c, size_t from, size_t to)
{
	if (c->is_list)
		return put_list_levels(c, from, to);
	if (c->rows->column->null == PC_NULLABLE)
		put_flat_levels(c, from, to);
	return to - from;
}

/* Indices of more than a few bits have whole bytes, in which zstd finds what repeats. */
static void put_rle(struct pc_chunk *c, const uint32_t *indices, size_t n)
{
	const unsigned int least = pc_bits(c->dictionary_size - 1);
	const unsigned int bits = least > MOST_PACKED ? (least + 7) / 8 * 8 : least ? least : 1;

	pc_put_byte(&c->p->page, bits);
	pc_encode_rle(&c->p->page, indices, n, bits);
}

/* Texts have their indices in the column. */
static void put_text_indices(struct pc_chunk *c, size_t from, size_t to)
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

static void put_indices(struct pc_chunk *c, size_t from, size_t to)
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

static void put_numbers(struct pc_chunk *c, size_t from, size_t to)
{
	size_t n;
	const int64_t *values = pc_numbers_between(c, from, to, &n);

	if (values)
		c->encode(&c->p->page, values, n, c->a->width);
}

static void put_bytes(struct pc_chunk *c, size_t from, size_t to)
{
	const struct pc_array *a = c->a;

	for (size_t i = from; i < to; i++)
		if (a->valid.data[i])
			put_text(&c->p->page, (struct pd_bytes){
				a->values.data + pc_offset_at(a, i),
				(size_t)(pc_offset_at(a, i + 1) - pc_offset_at(a, i)) });
}

static void put_flags(struct pc_chunk *c, size_t from, size_t to)
{
	size_t n;
	const int64_t *values = pc_numbers_between(c, from, to, &n);

	if (values)
		pc_pack_bits(&c->p->page, (const uint64_t *)values, n, 1);
}

static void write_rows(struct pc_chunk *c, size_t from, size_t to)
{
	size_t levels;

	c->p->page.size = 0;
	levels = put_row_levels(c, from, to);
	from = pc_first_item(c, from);
	to = pc_first_item(c, to);
	if (c->encoding == PC_RLE_DICTIONARY)
		put_indices(c, from, to);
	else if (pc_is_bytes(c->a->column->type))
		put_bytes(c, from, to);
	else if (c->a->column->type == PC_BOOL)
		put_flags(c, from, to);
	else
		put_numbers(c, from, to);
	if (c->p->values.failed || c->p->numbers.failed || c->p->indices.failed)
		c->p->error = -1;
	write_page(c, DATA_PAGE, levels);
	c->nr_values += levels;
}

/* Returns the first row that no longer belongs to the page of row `from`. */
static size_t end_of_page(const struct pc_chunk *c, size_t from)
{
	const bool is_bytes = pc_is_bytes(c->a->column->type);
	const size_t left = c->rows->rows - from, most = is_bytes ? PAGE_VALUES : PAGE_ITEMS;
	size_t row = from, used = 0;

	if (!c->is_list && !is_bytes)
		return from + (left < PAGE_VALUES ? left : PAGE_VALUES);
	while (row < c->rows->rows && used < most) {
		used += c->is_list ? 1 + pc_first_item(c, row + 1) - pc_first_item(c, row) : 1;
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
static struct range find_range(struct pc_chunk *c)
{
	const struct pd_buf *numbers = &c->p->numbers;
	const size_t rows = c->a->rows;
	struct range r = { INT64_MAX, INT64_MIN };

	if (c->encoding == PC_RLE_DICTIONARY) {
		widen_range(&r, (const int64_t *)(const void *)numbers->data,
			    numbers->size / sizeof(int64_t));
		return r;
	}
	for (size_t from = 0; from < rows; from += PART) {
		size_t n;
		const int64_t *values = pc_numbers_between(
			c, from, rows - from < PART ? rows : from + PART, &n);

		widen_range(&r, values, values ? n : 0);
	}
	return r;
}

/* Minimum and maximum of signed numbers; those of unsigned ones and texts are left out. */
static void put_statistics(struct pc_chunk *c, struct pc_thrift *t)
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

static void put_path(const struct pc_chunk *c, struct pc_thrift *t)
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

static void put_metadata(struct pc_chunk *c, struct pc_thrift *t)
{
	const bool has_dictionary = c->encoding == PC_RLE_DICTIONARY;

	pc_thrift_struct_item(t);
	pc_thrift_i64(t, 2, (int64_t)c->start);
	pc_thrift_struct(t, 3);
	pc_thrift_i32(t, 1, pc_parquet_type(c->a->column->type));
	pc_thrift_list(t, 2, PC_THRIFT_I32, has_dictionary ? 3 : 2);
	pc_thrift_i32_item(t, PC_RLE);
	pc_thrift_i32_item(t, c->encoding);
	if (has_dictionary)
		pc_thrift_i32_item(t, PC_PLAIN);
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
	struct pc_chunk c = { .p = p, .a = a, .rows = pc_rows_of(a), .start = p->written,
			      .is_list = pc_is_list(pc_rows_of(a)->column->type),
			      .index.budget = p->budget };

	pc_choose_encoding(&c, end_of_page(&c, 0));
	if (c.encoding == PC_RLE_DICTIONARY)
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
