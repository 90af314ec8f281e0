/* json_record.c - one record as a JSON object. */
#include "json/json.h"

#define PAYLOAD_CHUNK 65536

static inline char *put(char *at, const char *text, size_t n)
{
	memcpy(at, text, n);
	return at + n;
}
#define PUT(at, text) put(at, text, sizeof(text) - 1)

/* What every record begins with. */
static inline void begin(struct pd_json *j, uint64_t offset, uint64_t inner_offset)
{
	char *at = (pd_jsonw_room(&j->w), j->w.at);

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
	j->w.at = at;
}

static inline void end(struct pd_json *j)
{
	pd_jsonw_room(&j->w);
	j->w.at = put(j->w.at, "}\n", 2) - (j->options.shape != PD_JSON_LINES);
}

/* The ops of the numbers that the body begins with; NULL: there are none, or not all. */
static inline const struct pd_op *numbers_of(const struct pd_record *r)
{
	const struct pd_op_list *list = r->plan ? r->plan->list : NULL;

	return list && list->nr_simple && list->nr_simple <= r->extent.nr_ops ? list->ops : NULL;
}

/* Writes what a record has before its fields, and the numbers that its body begins with. */
static inline void head(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;
	const struct pd_emit_key key = {
		.of = numbers_of(r), .attr = r->attr, .file = r->file,
		.what = PD_EMIT_RECORD | (uint64_t)f->type << 16 | f->misc,
		.version = (uint64_t)(r->attr ? r->attr->generation : 0) << 32 | j->session->arch_changes };
	struct pd_emit *p = pd_emit_place(j->programs, &key);
	const bool is_usual = f->desc && f->bytes.size == f->size && f->state != PD_FRAME_SKIPPED;

	if (is_usual && !pd_emit_is_for(p, &key))
		pd_json_compile_record(p, &key, r);
	j->written = NULL;
	if (is_usual && !p->is_unusable) {
		pd_emit_run(j, p, r->body.data, j->session->swap);
		j->written = key.of;
	} else {
		pd_json_odd_head(j, r);
	}
}

static COLD void one_by_one(struct pd_json *j, const struct pd_op *op, size_t n, const uint8_t *start, enum pd_swap swap)
{
	for (const struct pd_op *last = op + n; op < last; op++)
		if (op->kind != PD_PAD && op->field->show != PD_HIDDEN)
			pd_json_visitor.number(j, op->field, pd_op_shown(op, start, swap));
}

/* `what` is PD_EMIT_FIELDS or PD_EMIT_TRAILER. */
static inline struct pd_emit *program_of(struct pd_json *j, const struct pd_op *ops, size_t n, uint64_t what)
{
	const struct pd_emit_key key = { .of = ops, .what = what | n, .version = j->session->arch_changes };
	struct pd_emit *p = pd_emit_place(j->programs, &key);

	if (!pd_emit_is_for(p, &key)) {
		pd_emit_begin(p, &key);
		if (what == PD_EMIT_TRAILER)
			pd_emit_add_text(p, ",\"sample_id\":{", 14);
		pd_emit_add_ops(p, ops, n);
		if (what == PD_EMIT_TRAILER)
			pd_emit_add_text(p, "}", 1);
		pd_emit_end(p);
	}
	return p;
}

void pd_json_fixed_fields(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap)
{
	struct pd_json *j = ctx;
	const struct pd_emit *p;

	if (ops == j->written)
		return;
	p = program_of(j, ops, n, PD_EMIT_FIELDS);
	if (p->is_unusable)
		one_by_one(j, ops, n, start, swap);
	else
		pd_emit_run(j, p, start, swap);
}

static void trailer(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_op_list *list = r->trailer->list;
	const struct pd_emit *p = program_of(j, list->ops, list->nr_ops, PD_EMIT_TRAILER);

	if (p->is_unusable || !pd_is_all_fixed(list, r->trailer_bytes, list->nr_ops))
		pd_record_visit_trailer(r, &pd_json_visitor, j);
	else
		pd_emit_run(j, p, r->trailer_bytes.data, j->session->swap);
}

/* The bytes after the record, in pieces: they may be more than memory holds. */
static COLD void payload(struct pd_json *j)
{
	struct pd_bytes piece;
	struct pd_error e;

	PD_JSONW_KEY(&j->w, "data");
	pd_jsonw_char(&j->w, '"');
	while (pd_reader_read_payload(j->reader, PAYLOAD_CHUNK, &piece, &e) > 0)
		pd_jsonw_hex_inside(&j->w, piece);
	pd_jsonw_char(&j->w, '"');
}

static inline void fields(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_bytes trailing = pd_record_trailing(r);

	if (!j->written || !pd_is_all_fixed(r->plan->list, r->body, r->extent.nr_ops))
		pd_visit_batches(r->plan, r->body, r->frame.misc, j->session->swap, &r->extent, &pd_json_visitor,
				 pd_json_fixed_fields, j);
	if (r->trailer)
		trailer(j, r);
	if (trailing.size || r->extent.code != PD_OK) {	/* empty: fields are missing */
		PD_JSONW_KEY(&j->w, "trailing");
		pd_jsonw_hex(&j->w, trailing);
	}
	if ((r->frame.payload || r->frame.payload_lost) && j->options.blobs != PD_BLOBS_OMIT)
		payload(j);
}

void pd_json_write_record(struct pd_json *j, const struct pd_record *r)
{
	j->fields_missing = 0;
	j->record = r;
	begin(j, r->frame.offset, r->frame.inner_offset);
	head(j, r);
	if (r->plan) {
		fields(j, r);
	} else {
		PD_JSONW_KEY(&j->w, "body");
		pd_jsonw_hex(&j->w, r->body);
	}
	if (r->frame.zeros) {
		PD_JSONW_KEY(&j->w, "zeros");
		pd_jsonw_unsigned(&j->w, r->frame.zeros);
	}
	end(j);
	j->record = NULL;
}
