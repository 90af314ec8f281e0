/* out_arrow.c - one table as a stream of Arrow IPC. Each record batch has dictionaries of its own,
 * which replace those before.
 *
 * Source: "Arrow Columnar Format", section "Serialization and Interprocess Communication", and
 * Message.fbs and Schema.fbs in the Arrow repository. */
#include <string.h>

#include "base/argument.h"
#include "encoding/flatbuffer.h"
#include "pass/columns_internal.h"

enum { METADATA_V5 = 4 };
enum { HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_RECORDS = 3 };
enum {
	TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_BINARY = 4, TYPE_UTF8 = 5, TYPE_BOOL = 6, TYPE_LIST = 12,
	TYPE_STRUCT = 13,
};
enum { PRECISION_DOUBLE = 2 };
enum { ALIGN = 8 };

/* A stream while it is written. */
struct stream {
	const struct pc_columns *c;
	struct pd_output out;
	struct pd_buf meta, body;
	struct pd_buf nodes;	/* struct node: arrays of the message */
	struct pd_buf spans;	/* struct span: their buffers in the body */
	int error;
};

struct node {
	uint64_t rows, nulls;
};

struct span {
	uint64_t offset, size;
};

/* --- messages --- */

static void write_bytes(struct stream *s, const void *bytes, size_t n)
{
	if (!s->error && n)
		s->error = s->out.write(s->out.ctx, bytes, n);
}

/* Starts a message. Returns the place of the reference to its header. */
static size_t begin_message(struct stream *s, unsigned int type)
{
	const struct pc_fb_field fields[] = {
		{ 0, 2, METADATA_V5 }, { 1, 1, type }, { 2, 0, 0 }, { 3, 8, s->body.size },
	};
	size_t places[4];

	pc_fb_begin(&s->meta);
	pc_fb_table(&s->meta, fields, 4, places);
	return places[2];
}

static void end_message(struct stream *s)
{
	uint8_t head[8];

	pc_fb_align(&s->meta, ALIGN);
	if (s->meta.failed || s->body.failed || s->nodes.failed || s->spans.failed)
		s->error = s->error ? s->error : -1;
	pc_store_little(head, UINT32_MAX, 4);
	pc_store_little(head + 4, s->meta.size, 4);
	write_bytes(s, head, sizeof(head));
	write_bytes(s, s->meta.data, s->meta.size);
	write_bytes(s, s->body.data, s->body.size);
}

/* --- the schema --- */

static size_t put_int_type(struct stream *s, unsigned int bits, bool is_signed)
{
	const struct pc_fb_field fields[] = { { 0, 4, bits }, { 1, 1, is_signed } };
	size_t places[2];

	return pc_fb_table(&s->meta, fields, 2, places);
}

static size_t put_plain_type(struct stream *s)
{
	return pc_fb_table(&s->meta, NULL, 0, NULL);
}

static unsigned int type_number(enum pc_type of)
{
	switch (of) {
	case PC_BOOL:
		return TYPE_BOOL;
	case PC_DOUBLE:
		return TYPE_FLOAT;
	case PC_TEXT:
	case PC_LONG_TEXT:
	case PC_TEXT_LIST:
		return TYPE_UTF8;
	case PC_BYTES:
		return TYPE_BINARY;
	default:
		return TYPE_INT;
	}
}

/* Puts the type of a column, or of the items of a list. */
static size_t put_type(struct stream *s, enum pc_type type)
{
	const struct pc_fb_field precision = { 0, 2, PRECISION_DOUBLE };
	const bool is_unsigned = type == PC_UINT64 || type == PC_UINT64_LIST;
	size_t place;

	switch (type_number(type)) {
	case TYPE_INT:
		return put_int_type(s, 8 * (unsigned int)pc_width(type),
				    !is_unsigned || s->c->o.uint64 == PC_AS_INT64);
	case TYPE_FLOAT:
		return pc_fb_table(&s->meta, &precision, 1, &place);
	default:
		return put_plain_type(s);
	}
}

static void put_dictionary(struct stream *s, size_t reference, uint64_t id)
{
	const struct pc_fb_field fields[] = { { 0, 8, id }, { 1, 0, 0 } };
	size_t places[2];

	pc_fb_point(&s->meta, reference, pc_fb_table(&s->meta, fields, 2, places));
	pc_fb_point(&s->meta, places[1], put_int_type(s, 32, true));
}

/* Puts a field without children. `id`: of its dictionary. */
static size_t put_leaf(struct stream *s, const char *name, const struct pc_column *c,
		       enum pc_null null, uint64_t id)
{
	const struct pc_fb_field fields[] = {
		{ 0, 0, 0 }, { 1, 1, null == PC_NULLABLE }, { 2, 1, type_number(c->type) },
		{ 3, 0, 0 }, { 5, 0, 0 }, { 4, 0, 0 },
	};
	const size_t n = pc_is_dictionary(c) ? 6 : 5;
	size_t places[6], at = pc_fb_table(&s->meta, fields, n, places);

	pc_fb_point(&s->meta, places[0], pc_fb_string(&s->meta, name));
	pc_fb_point(&s->meta, places[3], put_type(s, c->type));
	pc_fb_point(&s->meta, places[4], pc_fb_vector(&s->meta, 0, 4));
	if (n == 6)
		put_dictionary(s, places[5], id);
	return at;
}

/* Puts a list or a struct. *children: where the references to its fields are. */
static size_t put_inner(struct stream *s, const char *name, unsigned int type, enum pc_null null,
			size_t nr_children, size_t *children)
{
	const struct pc_fb_field fields[] = {
		{ 0, 0, 0 }, { 1, 1, null == PC_NULLABLE }, { 2, 1, type }, { 3, 0, 0 },
		{ 5, 0, 0 },
	};
	size_t places[5], at = pc_fb_table(&s->meta, fields, 5, places);

	pc_fb_point(&s->meta, places[0], pc_fb_string(&s->meta, name));
	pc_fb_point(&s->meta, places[3], put_plain_type(s));
	*children = pc_fb_vector(&s->meta, nr_children, 4);
	pc_fb_point(&s->meta, places[4], *children);
	*children += 4;
	return at;
}

static size_t put_struct(struct stream *s, const struct pc_column *members, size_t n, uint64_t id)
{
	size_t children, at = put_inner(s, "element", TYPE_STRUCT, PC_REQUIRED, n, &children);

	for (size_t i = 0; i < n; i++)
		pc_fb_point(&s->meta, children + 4 * i,
			    put_leaf(s, members[i].name, &members[i], PC_REQUIRED, id + i));
	return at;
}

static size_t put_field(struct stream *s, const struct pc_table *table, size_t column)
{
	const struct pc_column *c = &table->columns[column];
	const size_t members = pc_nr_members(table, column);
	size_t at, children;

	if (!pc_is_list(c->type))
		return put_leaf(s, c->name, c, c->null, column);
	at = put_inner(s, c->name, TYPE_LIST, c->null, 1, &children);
	pc_fb_point(&s->meta, children, members ? put_struct(s, c + 1, members, column + 1) :
		    put_leaf(s, "element", c, PC_REQUIRED, column));
	return at;
}

static void put_metadata(struct stream *s, size_t reference)
{
	const struct pc_fb_field fields[] = { { 0, 0, 0 }, { 1, 0, 0 } };
	const size_t vector = pc_fb_vector(&s->meta, PC_NR_PAIRS, 4);

	pc_fb_point(&s->meta, reference, vector);
	for (size_t i = 0; i < PC_NR_PAIRS; i++) {
		const struct pc_pair pair = pc_pair_at(i, s->c->o.uint64);
		size_t places[2];

		pc_fb_point(&s->meta, vector + 4 + 4 * i,
			    pc_fb_table(&s->meta, fields, 2, places));
		pc_fb_point(&s->meta, places[0], pc_fb_string(&s->meta, pair.key));
		pc_fb_point(&s->meta, places[1], pc_fb_string(&s->meta, pair.value));
	}
}

static void write_schema(struct stream *s, const struct pc_batch *b)
{
	const struct pc_fb_field fields[] = {
		{ 0, 2, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ }, { 1, 0, 0 }, { 2, 0, 0 },
	};
	size_t places[3], header, vector, n = 0, at = 0;

	s->body.size = 0;
	header = begin_message(s, HEADER_SCHEMA);
	pc_fb_point(&s->meta, header, pc_fb_table(&s->meta, fields, 3, places));
	for (size_t i = 0; i < b->table->nr_columns; i++)
		n += pc_is_field(&b->arrays[i]);
	vector = pc_fb_vector(&s->meta, n, 4);
	pc_fb_point(&s->meta, places[1], vector);
	for (size_t i = 0; i < b->table->nr_columns; i++)
		if (pc_is_field(&b->arrays[i]))
			pc_fb_point(&s->meta, vector + 4 + 4 * at++, put_field(s, b->table, i));
	put_metadata(s, places[2]);
	end_message(s);
}

/* --- bodies --- */

static void add_span(struct stream *s, const void *bytes, size_t n)
{
	const struct span span = { s->body.size, n };

	pd_buf_append(&s->spans, &span, sizeof(span));
	pd_buf_append(&s->body, bytes, n);
	pc_fb_align(&s->body, ALIGN);
}

static void add_bits(struct stream *s, const struct pd_buf *bytes)
{
	const struct span span = { s->body.size, (bytes->size + 7) / 8 };
	uint8_t *to = pd_buf_reserve(&s->body, span.size);

	if (!to)
		return;
	pc_pack_bytes(to, bytes);
	s->body.size += span.size;
	pd_buf_append(&s->spans, &span, sizeof(span));
	pc_fb_align(&s->body, ALIGN);
}

static void add_node(struct stream *s, uint64_t rows, uint64_t nulls)
{
	const struct node node = { rows, nulls };

	pd_buf_append(&s->nodes, &node, sizeof(node));
}

static void add_texts(struct stream *s, const struct pc_array *a)
{
	struct pd_buf offsets = { .budget = s->body.budget }, texts = offsets;

	pc_expand_texts(a, &offsets, &texts);
	s->body.failed |= offsets.failed || texts.failed;
	add_span(s, offsets.data, offsets.size);
	add_span(s, texts.data, texts.size);
	pd_buf_free(&offsets);
	pd_buf_free(&texts);
}

static void add_values(struct stream *s, const struct pc_array *a)
{
	if (pc_has_texts(a->column->type) && !pc_is_dictionary(a->column))
		add_texts(s, a);
	else if (a->column->type == PC_BOOL)
		add_bits(s, &a->values);
	else
		add_span(s, a->values.data, a->values.size);
}

/* Adds the head of an array of items, none of which is NULL: of a list, or of a member. */
static void add_items(struct stream *s, const struct pc_array *a)
{
	add_node(s, pc_nr_items(a), 0);
	add_span(s, NULL, 0);
}

/* Adds an array, and those of its members, which follow it. */
static void add_array(struct stream *s, const struct pc_array *a, size_t members)
{
	const enum pc_type type = a->column->type;

	add_node(s, a->rows, a->nulls);
	if (a->nulls)
		add_bits(s, &a->valid);
	else
		add_span(s, NULL, 0);
	if (pc_has_offsets(type))
		add_span(s, a->offsets.data, a->offsets.size);
	if (pc_is_list(type))
		add_items(s, a);
	if (!members)
		add_values(s, a);
	for (size_t i = 1; i <= members; i++) {
		add_items(s, &a[i]);
		add_values(s, &a[i]);
	}
}

static void begin_body(struct stream *s)
{
	s->body.size = s->nodes.size = s->spans.size = 0;
}

static void put_pairs(struct stream *s, size_t reference, const struct pd_buf *pairs)
{
	const uint64_t *numbers = (const uint64_t *)(const void *)pairs->data;
	const size_t n = pairs->size / sizeof(struct span);
	const size_t vector = pc_fb_vector(&s->meta, n, sizeof(struct span));

	pc_fb_point(&s->meta, reference, vector);
	for (size_t i = 0; i < 2 * n && !s->meta.failed; i++)
		pc_store_little(s->meta.data + vector + 4 + 8 * i, numbers[i], 8);
}

/* Puts a RecordBatch. Returns where it is. */
static size_t put_records(struct stream *s, uint64_t rows)
{
	const struct pc_fb_field fields[] = { { 0, 8, rows }, { 1, 0, 0 }, { 2, 0, 0 } };
	size_t places[3], at = pc_fb_table(&s->meta, fields, 3, places);

	put_pairs(s, places[1], &s->nodes);
	put_pairs(s, places[2], &s->spans);
	return at;
}

static void write_dictionary(struct stream *s, const struct pc_array *a, uint64_t id)
{
	static const int32_t none;
	const struct pc_fb_field fields[] = { { 0, 8, id }, { 1, 0, 0 }, { 2, 1, 0 } };
	size_t places[3], header;

	begin_body(s);
	add_node(s, a->texts.nr, 0);
	add_span(s, NULL, 0);
	add_span(s, a->texts.nr ? (const void *)a->texts.offsets.data : &none,
		 a->texts.nr ? a->texts.offsets.size : sizeof(none));
	add_span(s, a->texts.bytes.data, a->texts.nr ? a->texts.bytes.size : 0);
	header = begin_message(s, HEADER_DICTIONARY);
	pc_fb_point(&s->meta, header, pc_fb_table(&s->meta, fields, 3, places));
	pc_fb_point(&s->meta, places[1], put_records(s, a->texts.nr));
	end_message(s);
}

static int write_batch(void *ctx, struct pc_batch *b)
{
	struct stream *s = ctx;
	size_t header;

	for (size_t i = 0; i < b->table->nr_columns && !s->error; i++)
		if (b->arrays[i].is_on && pc_is_dictionary(b->arrays[i].column))
			write_dictionary(s, &b->arrays[i], i);
	begin_body(s);
	for (size_t i = 0; i < b->table->nr_columns; i++)
		if (pc_is_field(&b->arrays[i]))
			add_array(s, &b->arrays[i], pc_nr_members(b->table, i));
	header = begin_message(s, HEADER_RECORDS);
	pc_fb_point(&s->meta, header, put_records(s, b->rows));
	end_message(s);
	return s->error;
}

int pc_write_arrow(struct pc_columns *c, struct pd_reader *r, size_t table, struct pd_output out,
		   struct pd_error *e)
{
	struct stream s = { .c = c, .out = out };
	struct pd_error unused;
	uint8_t end[8];
	int ret;

	e = pd_error_or(e, &unused);
	if (!c || !r || !out.write || table >= PC_NR_TABLES || !c->batches[table].table ||
	    c->reader)
		return pd_refuse(e, "no tables that were not written, no reader or output, or not "
				    "one of the tables");
	s.meta.budget = s.body.budget = s.nodes.budget = s.spans.budget = &c->budget;
	write_schema(&s, &c->batches[table]);
	ret = s.error ? s.error : pc_begin(c, r, write_batch, &s, e);
	if (!ret)
		ret = pc_run(c, e);
	pc_store_little(end, UINT32_MAX, 8);
	write_bytes(&s, end, sizeof(end));
	pd_buf_free(&s.meta);
	pd_buf_free(&s.body);
	pd_buf_free(&s.nodes);
	pd_buf_free(&s.spans);
	if (s.error == -1)
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	return ret ? ret : s.error;
}
