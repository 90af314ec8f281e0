/* json_record.c - one record as a JSON object. */
#include "json/json.h"

#include "layout/container.h"

#define PAYLOAD_CHUNK 65536
#define COLD __attribute__((noinline))	/* for few records: the others need no room for its variables */

static inline char *put(char *at, const char *text, size_t n)
{
	memcpy(at, text, n);
	return at + n;
}
#define PUT(at, text) put(at, text, sizeof(text) - 1)

static inline char *put_offset(char *at, struct pd_json_offset *last, uint64_t v)
{
	const uint64_t high = v / 10000;

	if (!high)
		return pd_write_decimal4(at, (uint32_t)v);
	if (high != last->high) {
		last->high = high;
		last->size = (uint8_t)(pd_write_decimal(last->text, high) - last->text);
	}
	memcpy(at, last->text, 16);
	at += last->size;
	pd_store_four(at, pd_four_digits((uint32_t)(v - high * 10000)));
	return at + 4;
}

/* What every record begins with. */
static inline void begin(struct pd_json *j, uint64_t offset, uint64_t inner_offset)
{
	char *at;

	pd_jsonw_room_twice(&j->w);
	at = j->w.at;
	if (j->options.shape == PD_JSON_LINES) {
		at = PUT(at, "{\"kind\":\"record\",\"offset\":");
	} else {
		*at = ',';
		at += at[-1] != '[';
		at = PUT(at, "\n{\"offset\":");
	}
	at = put_offset(at, &j->outer, offset);
	if (inner_offset != PD_OUTER) {
		at = PUT(at, ",\"inner_offset\":");
		at = put_offset(at, &j->inner, inner_offset);
	}
	j->w.at = at;
}

static inline void end(struct pd_json *j)
{
	pd_jsonw_room(&j->w);
	j->w.at = put(j->w.at, "}\n", 2) - (j->options.shape != PD_JSON_LINES);
}

static inline bool same_kind(const struct pd_json_kind *a, const struct pd_json_kind *b)
{
	return a->attr == b->attr && a->list == b->list && a->optional == b->optional && a->file == b->file &&
	       a->type == b->type && a->misc == b->misc &&
	       a->generation == b->generation && a->arch_changes == b->arch_changes;
}

/* The head of records of that kind, or NULL: it is no usual one. */
static inline struct pd_json_head *head_of(struct pd_json *j, const struct pd_json_kind *kind)
{
	const uint32_t key = kind->misc ^ kind->type << 16 ^ (kind->attr ? kind->attr->index << 22 : 0);
	struct pd_json_head *h = &j->heads[key * 0x9e3779b1u >> 16 & (PD_JSON_HEADS - 1)];

	if (!same_kind(&h->kind, kind)) {
		const struct pd_json_kind copy = *kind;		/* so that otherwise it can stay in registers */

		pd_json_make_head(j, h, &copy);
	}
	return h->is_good ? h : NULL;
}

/* Writes it, from its size to the numbers that the body begins with. */
static inline void head(struct pd_json *j, struct pd_json_head *h, const uint8_t *body)
{
	j->w.at = pd_json_fill(j, &h->form, j->w.at, body, j->session->swap);
	j->head_ops = h->kind.list ? h->kind.list->ops : NULL;
	j->head_optional = h->kind.optional ? h->kind.optional->list->ops : NULL;
}

/* Most records are a run of numbers: no walk for them. */
static inline bool is_in_head(const struct pd_json *j, const struct pd_op_list *list, struct pd_bytes body, uint32_t nr_ops)
{
	return j->head_ops && pd_is_all_fixed(list, body, nr_ops);
}

static COLD void walk_body(struct pd_json *j, const struct pd_plan *plan, struct pd_bytes body, uint16_t misc,
		      const struct pd_extent_of *extent)
{
	pd_visit_batches(plan, body, misc, j->session->swap, extent, &pd_json_visitor,
			 pd_json_fixed_fields, j);
}

/* Of a plain one: all of it is there. tail: where that begins in a simple list. */
static inline void simple_body(struct pd_json *j, const struct pd_plan *plan, size_t tail, struct pd_bytes body,
			       uint16_t misc)
{
	const struct pd_op_list *list = plan->list;

	if (is_in_head(j, list, body, list->nr_ops))
		return;
	if (list->is_simple && pd_visit_tail(list, tail, body, j->session->swap, &pd_json_visitor, pd_json_fixed_fields, j))
		return;
	walk_body(j, plan, body, misc, &(struct pd_extent_of){ .nr_ops = list->nr_ops, .end = body.size, .code = PD_OK });
}

/* Most trailers are, too. False: it is not. */
static inline bool trailer_of(struct pd_json *j, const struct pd_op_list *list, struct pd_bytes trailer)
{
	if (!pd_is_all_fixed(list, trailer, list->nr_ops))
		return false;
	pd_json_trailer(j, list->ops, list->nr_ops, trailer.data, j->session->swap);
	return true;
}

/* The bytes behind the record, in pieces: they may be more than memory holds. */
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

static void fields(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_bytes trailing = pd_record_trailing(r);

	if (!is_in_head(j, r->plan->list, r->body, r->extent.nr_ops))
		walk_body(j, r->plan, r->body, r->frame.misc, &r->extent);
	if (r->trailer && !trailer_of(j, r->trailer->list, r->trailer_bytes))
		pd_record_visit_trailer(r, &pd_json_visitor, j);
	if (trailing.size || r->extent.code != PD_OK) {	/* empty ones say that fields are missing */
		PD_JSONW_KEY(&j->w, "trailing");
		pd_jsonw_hex(&j->w, trailing);
	}
	if ((r->frame.payload || r->frame.payload_lost) && j->options.blobs != PD_BLOBS_OMIT)
		payload(j);
}

/* The list whose leading numbers are there, or NULL. */
static const struct pd_op_list *numbers_of(const struct pd_record *r)
{
	const struct pd_op_list *list = r->plan ? r->plan->list : NULL;

	return list && list->nr_simple && list->nr_simple <= r->extent.nr_ops && list->simple_size <= r->body.size ? list :
	       NULL;
}

void pd_json_write_record(struct pd_json *j, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;
	const struct pd_json_kind kind = {
		.attr = r->attr, .list = numbers_of(r), .file = r->file, .type = f->type, .misc = f->misc,
		.generation = r->attr ? r->attr->generation : 0, .arch_changes = j->session->arch_changes };
	struct pd_json_head *h = f->desc && f->bytes.size == f->size && f->state != PD_FRAME_SKIPPED ?
				 head_of(j, &kind) : NULL;

	j->fields_missing = 0;
	j->record = r;
	j->attr = r->attr;
	j->head_ops = j->head_optional = NULL;
	begin(j, f->offset, f->inner_offset);
	if (h)
		head(j, h, r->body.data);
	else if (f->state == PD_FRAME_SKIPPED)
		pd_json_skipped(j, r);
	else
		pd_json_odd_head(j, r);
	if (r->plan) {
		fields(j, r);
	} else {
		PD_JSONW_KEY(&j->w, "body");
		pd_jsonw_hex(&j->w, r->body);
	}
	if (f->zeros) {
		PD_JSONW_KEY(&j->w, "zeros");
		pd_jsonw_unsigned(&j->w, f->zeros);
	}
	end(j);
	j->record = NULL;
}

static COLD void write_oddly(struct pd_json *j, const struct pd_batch *batch, const struct pd_simple *p)
{
	struct pd_record r;

	pd_batch_record(batch, p, j->session, &r);
	pd_json_write_record(j, &r);
}

static COLD void visit_trailer(struct pd_json *j, const struct pd_batch *batch, const struct pd_simple *p)
{
	struct pd_record r;

	pd_batch_record(batch, p, j->session, &r);
	pd_record_visit_trailer(&r, &pd_json_visitor, j);
}

/* The same as pd_json_write_record() of it, without what can't be. */
void pd_json_write_simple(struct pd_json *j, const struct pd_batch *batch, const struct pd_simple *p)
{
	const struct pd_op_list *list = p->plan->list;
	const size_t trailer = pd_simple_trailer_size(p);
	const uint8_t *data = batch->data + p->at;
	const struct pd_bytes body = { data + PD_RECORD_HEADER_SIZE, p->size - PD_RECORD_HEADER_SIZE - trailer };
	const size_t tail = list->is_simple ? pd_tail_at(list, body, j->session->swap) : 0;
	const struct pd_json_kind kind = {
		.attr = p->attr, .list = list->nr_simple ? list : NULL, .file = batch->file, .type = p->type,
		.optional = list->is_simple && list->optional && tail > list->optional->offset ? list->optional : NULL,
		.misc = pd_record_header_load(data, j->session->swap).misc, .generation = p->attr->generation,
		.arch_changes = j->session->arch_changes };
	struct pd_json_head *h = head_of(j, &kind);

	if (!h) {
		write_oddly(j, batch, p);
		return;
	}
	j->fields_missing = 0;
	j->attr = p->attr;
	if (batch->inner_offset == PD_OUTER)
		begin(j, batch->offset + p->at, PD_OUTER);
	else
		begin(j, batch->offset, batch->inner_offset + p->at);
	head(j, h, body.data);
	simple_body(j, p->plan, tail, body, kind.misc);
	if (trailer && !trailer_of(j, p->attr->trailer->list, (struct pd_bytes){ body.data + body.size, trailer }))
		visit_trailer(j, batch, p);
	end(j);
}
