/* json_record.c - writes a record as a JSON object. */
#include "json/json.h"

#define PAYLOAD_CHUNK 65536

static inline char *copy_text(char *at, const char *text, size_t n)
{
	memcpy(at, text, n);
	return at + n;
}
#define PUT(at, text) copy_text(at, text, sizeof(text) - 1)

static inline void open_record(struct pd_json *j, uint64_t offset, uint64_t inner_offset)
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

static inline void close_record(struct pd_json *j)
{
	pd_jsonw_room(&j->w);
	j->w.at = copy_text(j->w.at, "}\n", 2) - (j->options.shape != PD_JSON_LINES);
}

/* Returns the ops of the numbers that the body begins with. NULL: none, or some are cut off. */
static inline const struct pd_op *leading_numbers(const struct pd_record *r)
{
	const struct pd_op_list *list = r->plan ? r->plan->list : NULL;

	return list && list->nr_simple && list->nr_simple <= r->extent.nr_ops ? list->ops : NULL;
}

/* Writes the members before a record's fields, and the numbers that its body begins with. */
static inline void write_head(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;
	const uint64_t generation = r->attr ? r->attr->generation : 0;
	const struct pd_emit_key key = {
		.of = leading_numbers(r), .attr = r->attr, .file = r->file,
		.what = PD_EMIT_RECORD | (uint64_t)f->type << 16 | f->misc,
		.version = generation << 32 | j->session->arch_changes };
	struct pd_emit *p = pd_emit_lookup(j->programs, &key);
	const bool is_whole = f->desc && f->bytes.size == f->size && f->state != PD_FRAME_SKIPPED;

	if (is_whole && !pd_emit_is_for(p, &key))
		pd_json_compile_record(p, j, &key, r);
	j->written = NULL;
	if (is_whole && !p->is_unusable) {
		pd_emit_run(j, p, r->body.data, j->session->swap);
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

void pd_json_fixed_fields(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start,
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
		pd_emit_run(j, p, start, swap);
}

static void write_trailer(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_op_list *list = r->trailer->list;
	const struct pd_emit *p = find_program(j, list->ops, list->nr_ops, PD_EMIT_TRAILER);

	if (p->is_unusable || !pd_is_all_fixed(list, r->trailer_bytes, list->nr_ops))
		pd_record_visit_trailer(r, &pd_json_visitor, j);
	else
		pd_emit_run(j, p, r->trailer_bytes.data, j->session->swap);
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
				 &pd_json_visitor, pd_json_fixed_fields, j);
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
	open_record(j, r->frame.offset, r->frame.inner_offset);
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
	close_record(j);
	j->record = NULL;
}
