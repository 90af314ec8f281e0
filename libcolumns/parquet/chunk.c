/* chunk.c - the numbers of a column in a row group, and their encoding. */
#include "parquet/chunk.h"

#include "parquet/parquet_column.h"

enum { TYPE_BOOLEAN = 0, TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { DICTIONARY_MAX = 1 << 16, ZSTD_LEVEL = 3 };
enum {
	PROBED = 1024,		/* values of a column before it is seen that too many differ */
	PART = 1 << 13,		/* values that encodings are tried with */
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

int pc_compress_page(struct pc_parquet *p)
{
	const size_t bound = ZSTD_compressBound(p->page.size);
	uint8_t *to;
	size_t n;

	p->packed.size = 0;
	to = p->page.failed || bound > INT32_MAX ? NULL : pd_buf_reserve(&p->packed, bound);
	n = to ? ZSTD_compressCCtx(p->compressor, to, bound, p->page.data ? p->page.data :
				   (const uint8_t *)"", p->page.size, ZSTD_LEVEL) : 0;
	if (!to || ZSTD_isError(n))
		return -1;
	p->packed.size = n;
	return 0;
}

/* Puts the numbers of all items into an array. */
static void widen(const struct pc_array *a, size_t from, size_t to, int64_t *out)
{
	const uint8_t *bytes = a->values.data;
	const int32_t *halves = (const int32_t *)(const void *)bytes;

	if (a->width == 4)
		for (size_t i = from; i < to; i++)
			*out++ = halves[i];
	else
		for (size_t i = from; i < to; i++)
			*out++ = bytes[i];
}

/* Puts the numbers of items that are not NULL into an array. Returns how many there are. */
static size_t collect_numbers(const struct pc_array *a, const uint8_t *valid, size_t from,
			      size_t to, int64_t *out)
{
	const uint8_t *bytes = a->values.data;
	const int32_t *halves = (const int32_t *)(const void *)bytes;
	const int64_t *wholes = (const int64_t *)(const void *)bytes;
	size_t n = 0;

	/* a NULL is written, too, and then overwritten: that needs no jumps */
	if (a->width == 8)
		for (size_t i = from; i < to; i++) {
			out[n] = wholes[i];
			n += valid[i];
		}
	else if (a->width == 4)
		for (size_t i = from; i < to; i++) {
			out[n] = halves[i];
			n += valid[i];
		}
	else
		for (size_t i = from; i < to; i++) {
			out[n] = bytes[i];
			n += valid[i];
		}
	return n;
}

const int64_t *pc_numbers_between(struct pc_chunk *c, size_t from, size_t to, size_t *n)
{
	const bool has_nulls = !c->is_list && c->a->nulls;
	struct pd_buf *values = &c->p->values;
	int64_t *out;

	*n = to - from;
	if (!has_nulls && c->a->width == sizeof(*out) && c->a->values.data)
		return (const int64_t *)(const void *)c->a->values.data + from;
	values->size = 0;
	out = (int64_t *)(void *)pd_buf_reserve(values, (to - from + 1) * sizeof(*out));
	if (!out || (has_nulls && c->a->nulls == c->a->rows))
		*n = 0;
	else if (has_nulls)
		*n = collect_numbers(c->a, c->a->valid.data, from, to, out);
	else
		widen(c->a, from, to, out);
	return out;
}

/* --- the dictionary --- */

static bool is_same_number(const void *ctx, uint32_t id, const void *key)
{
	const struct pc_parquet *p = ctx;

	return ((const int64_t *)(const void *)p->numbers.data)[id] == *(const int64_t *)key;
}

/* Returns the index of a number in the dictionary, where it is added if it is new; PC_NONE without
 * memory, or if the dictionary is full. */
static uint32_t index_of(struct pc_chunk *c, int64_t value, size_t most)
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
static bool add_numbers(struct pc_chunk *c, size_t from, size_t to, size_t most)
{
	struct pd_buf *indices = &c->p->indices;
	uint32_t *out, last = 0;
	const size_t share = c->a->width == 4 ? 16 : 4;	/* of the values, that differ */
	const int64_t *values;
	size_t n;

	values = pc_numbers_between(c, from, to, &n);
	out = (uint32_t *)(void *)pd_buf_reserve(indices, (to - from) * sizeof(*out));
	if (!values || !out)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!i || values[i] != values[i - 1])
			last = index_of(c, values[i], most);
		if (last == PC_NONE || last > PROBED + (from + i) / share)
			return false;
		out[i] = last;
	}
	indices->size += n * sizeof(*out);
	return true;
}

/* Makes a dictionary, unless too many numbers differ. */
static bool make_dictionary(struct pc_chunk *c)
{
	const size_t end = pc_first_item(c, c->rows->rows),
		     most = end / 2 < DICTIONARY_MAX ? end / 2 : DICTIONARY_MAX;

	c->p->numbers.size = c->p->indices.size = 0;
	for (size_t from = 0; from < end; from += PROBED)
		if (!add_numbers(c, from, end - from < PROBED ? end : from + PROBED, most))
			return false;
	return c->p->numbers.size;
}

/* --- the encoding --- */

/* Returns how much the page of a part of the numbers takes. */
static size_t try_encoding(struct pc_chunk *c, const int64_t *values, size_t n,
			   pc_encode_numbers_fn encode)
{
	c->p->page.size = 0;
	encode(&c->p->page, values, n, c->a->width);
	return pc_compress_page(c->p) ? SIZE_MAX : c->p->packed.size;
}

/* Returns whether deltas of whole bytes take less than the numbers, by a part of them; in the whole
 * page zstd finds more that repeats, so they must be less by a 16th. */
static bool are_deltas_less(struct pc_chunk *c, const int64_t *values, size_t n)
{
	const size_t part = n < PART ? n : PART;

	values += (n - part) / 2;
	return try_encoding(c, values, part, pc_encode_delta_bytes) <
	       try_encoding(c, values, part, pc_encode_plain) / 16 * 15;
}

static void set_encoding(struct pc_chunk *c, enum pc_encoding encoding, pc_encode_numbers_fn encode)
{
	c->encoding = encoding;
	c->encode = encode;
}

/* Chooses the encoding of numbers that have no dictionary, by the first page. Packed deltas are for
 * those that grow by little: where zstd finds what repeats, it needs whole bytes. */
static void choose_without(struct pc_chunk *c, size_t first_page)
{
	const size_t width = c->a->width, few = width == sizeof(int32_t) ? 1 : 4;
	size_t n;
	const int64_t *values = pc_numbers_between(c, 0, pc_first_item(c, first_page), &n);

	if (!values || !n)
		return;
	if (!c->is_list && pc_delta_size(values, n, width) < n * few)
		set_encoding(c, PC_DELTA_BINARY_PACKED, pc_encode_delta);
	else if (are_deltas_less(c, values, n))
		set_encoding(c, PC_DELTA_BINARY_PACKED, pc_encode_delta_bytes);
}

void pc_choose_encoding(struct pc_chunk *c, size_t first_page)
{
	const enum pc_type type = c->a->column->type;
	const bool is_number = pc_parquet_type(type) == TYPE_INT32 ||
			       pc_parquet_type(type) == TYPE_INT64;

	set_encoding(c, pc_has_texts(type) && c->a->texts.nr ? PC_RLE_DICTIONARY : PC_PLAIN,
		     pc_encode_plain);
	if (is_number && !c->is_list && make_dictionary(c))
		c->encoding = PC_RLE_DICTIONARY;
	else if (is_number)
		choose_without(c, first_page);
}
