/* json_record.c - writes a record as a JSON object. */
#include "json/json.h"

#define PAYLOAD_CHUNK 65536

static inline char *copy_text(char *at, const char *text, size_t n)
{
	memcpy(at, text, n);
	return at + n;
}
#define OPEN_MAX 96
#define CLOSE_MAX 2
_Static_assert(OPEN_MAX + CLOSE_MAX <= PD_EMIT_AROUND, "a program's record fits");
#define PUT(at, text) copy_text(at, text, sizeof(text) - 1)

/* Writes up to OPEN_MAX bytes. Returns the end. */
static INLINE char *put_open(const struct pd_json *j, char *at, uint64_t offset,
			     uint64_t inner_offset)
{
	if (j->options.shape == PD_JSON_LINES) {
		at = PUT(at, "{\"kind\":\"record\",\"offset\":");
	} else {
		*at = ',';
		at += at[-1] != '[';
		at = PUT(at, "\n{\"offset\":");
	}
	at = pd_write_decimal(at, offset);
	if (inner_offset != PD_OUTER) {
		at = PUT(at, ",\"inner_offset\":");
		at = pd_write_decimal(at, inner_offset);
	}
	return at;
}

/* Writes up to CLOSE_MAX bytes. Returns the end. */
static inline char *put_close(const struct pd_json *j, char *at)
{
	return copy_text(at, "}\n", 2) - (j->options.shape != PD_JSON_LINES);
}

/* Returns the ops of the numbers that the body begins with. NULL: none, or some are cut off. */
static inline const struct pd_op *leading_numbers(const struct pd_record *r)
{
	const struct pd_op_list *list = r->plan ? r->plan->list : NULL;

	return list && list->nr_simple && list->nr_simple <= r->extent.nr_ops ? list->ops : NULL;
}

static inline struct pd_emit_key key_of(const struct pd_json *j, const struct pd_op *numbers,
					const struct pd_attr *attr, const char *file,
					uint32_t type, uint16_t misc)
{
	const uint64_t generation = attr ? attr->generation : 0;

	return (struct pd_emit_key){
		.of = numbers, .attr = attr, .file = file,
		.what = PD_EMIT_RECORD | (uint64_t)type << 16 | misc,
		.version = generation << 32 | j->session->arch_changes };
}

/* Writes the members before a record's fields, and the numbers that its body begins with. There
 * must be room, as for pd_emit_put(). */
static inline void write_head(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;
	const struct pd_emit_key key =
		key_of(j, leading_numbers(r), r->attr, r->file, f->type, f->misc);
	struct pd_emit *p = pd_emit_lookup(j->programs, &key);
	const bool is_whole = f->desc && f->bytes.size == f->size &&
			      f->state != PD_FRAME_SKIPPED && !f->wrong_type;

	if (is_whole && !pd_emit_is_for(p, &key))
		pd_json_compile_record(p, j, &key, r);
	j->written = NULL;
	if (is_whole && !p->is_unusable) {
		j->w.at = pd_emit_put(j, p, 0, j->w.at, r->body.data, j->session->swap);
		j->written = key.of;
	} else {
		pd_json_write_head_slow(j, r);
	}
}

static COLD void visit_numbers(struct pd_json *j, const struct pd_op *op, size_t n,
			       const uint8_t *start, enum pd_swap swap)
{
	for (const struct pd_op *last = op + n; op < last; op++)
		if (op->kind != PD_PAD && op->field->show != PD_HIDDEN)
			pd_json_visitor.number(j, op->field, pd_op_shown(op, start, swap));
}

/* `what` is PD_EMIT_FIELDS or PD_EMIT_TRAILER. */
static inline struct pd_emit *find_program(struct pd_json *j, const struct pd_op *ops, size_t n,
					   uint64_t what)
{
	const struct pd_emit_key key = {
		.of = ops, .what = what | n, .version = j->session->arch_changes };
	struct pd_emit *p = pd_emit_lookup(j->programs, &key);

	if (!pd_emit_is_for(p, &key)) {
		pd_emit_begin(p, &key);
		if (what == PD_EMIT_TRAILER)
			pd_emit_add_text(p, ",\"sample_id\":{", 14);
		pd_emit_add_ops(p, j, ops, n);
		if (what == PD_EMIT_TRAILER)
			pd_emit_add_text(p, "}", 1);
		pd_emit_end(p);
	}
	return p;
}

/* A pd_see_fixed_fields: writes numbers at fixed offsets, without a call for each. */
static void write_fixed_fields(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start,
			       enum pd_swap swap)
{
	struct pd_json *j = ctx;
	const struct pd_emit *p;

	if (ops == j->written)
		return;
	p = find_program(j, ops, n, PD_EMIT_FIELDS);
	if (p->is_unusable)
		visit_numbers(j, ops, n, start, swap);
	else
		pd_json_emit(j, p, start, swap);
}

static void write_trailer(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_op_list *list = r->trailer->list;
	const struct pd_emit *p = find_program(j, list->ops, list->nr_ops, PD_EMIT_TRAILER);

	if (p->is_unusable || !pd_is_all_fixed(list, r->trailer_bytes, list->nr_ops))
		pd_record_visit_trailer(r, &pd_json_visitor, j);
	else
		pd_json_emit(j, p, r->trailer_bytes.data, j->session->swap);
}

/* Writes the payload in pieces: it may be larger than memory. */
static COLD void write_payload(struct pd_json *j)
{
	struct pd_bytes piece;
	struct pd_error e;

	PD_JSONW_KEY(&j->w, "data");
	pd_jsonw_char(&j->w, '"');
	while (pd_reader_read_payload(j->reader, PAYLOAD_CHUNK, &piece, &e) > 0)
		pd_jsonw_hex_inside(&j->w, piece);
	pd_jsonw_char(&j->w, '"');
}

static inline void write_fields(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_bytes trailing = pd_record_trailing(r);

	if (!j->written || !pd_is_all_fixed(r->plan->list, r->body, r->extent.nr_ops))
		pd_visit_batches(r->plan, r->body, r->frame.misc, j->session->swap, &r->extent,
				 &pd_json_visitor, write_fixed_fields, j);
	if (r->trailer)
		write_trailer(j, r);
	if (trailing.size || r->extent.code != PD_OK) {	/* may be empty: fields are missing */
		PD_JSONW_KEY(&j->w, "trailing");
		pd_jsonw_hex(&j->w, trailing);
	}
	if ((r->frame.payload || r->frame.payload_lost) && j->options.blobs != PD_BLOBS_OMIT)
		write_payload(j);
}

void pd_json_write_record(struct pd_json *j, const struct pd_record *r)
{
	j->fields_missing = 0;
	j->record = r;
	pd_jsonw_room(&j->w);
	j->w.at = put_open(j, j->w.at, r->frame.offset, r->frame.inner_offset);
	write_head(j, r);
	if (r->plan) {
		write_fields(j, r);
		if (j->options.history && r->frame.type == PD_RECORD_SAMPLE)
			pd_json_resolve(j, r);
	} else {
		PD_JSONW_KEY(&j->w, "body");
		pd_jsonw_hex(&j->w, r->body);
	}
	if (r->frame.zeros)
		PD_JSONW_NUMBER(&j->w, "zeros", r->frame.zeros);
	pd_jsonw_room(&j->w);
	j->w.at = put_close(j, j->w.at);
	j->record = NULL;
}

bool pd_json_run_whole(struct pd_json *j, const struct pd_batch *batch, const struct pd_simple *p)
{
	const uint8_t *data = batch->data + p->at, *body = data + PD_RECORD_HEADER_SIZE;
	const enum pd_swap swap = j->session->swap;
	const struct pd_op_list *list = p->plan->list;
	const struct pd_emit_key key = key_of(j, list->ops, p->attr, batch->file, p->type,
					      pd_record_header_load(data, swap).misc);
	const struct pd_emit *program = pd_emit_lookup(j->programs, &key);
	char *at;

	if (!pd_emit_is_for(program, &key) || !program->is_whole || !pd_pads_are_clean(list, body))
		return false;
	j->fields_missing = 0;
	pd_jsonw_room(&j->w);
	at = put_open(j, j->w.at, pd_simple_offset(batch, p), pd_simple_inner_offset(batch, p));
	at = pd_emit_put(j, program, 0, at, body, swap);
	j->w.at = put_close(j, at);
	return true;
}
