/* repair_records.c - records: those that every reader accepts are copied, and damaged sizes and ids
 * corrected. */
#include "repair/repair_internal.h"
#include "stream/record.h"

#define PAYLOAD_CHUNK 65536

/* Returns whether every reader accepts this record. */
static bool is_good(const struct pd_record *r)
{
	if (r->frame.state != PD_FRAME_WHOLE || r->frame.payload_lost || !r->frame.desc)
		return false;
	return r->error.code == PD_OK || (r->error.code == PD_E_NO_ATTR && r->trailer);
}

/* Returns whether only the place after another recording tells the event of the record, which has
 * no id: the output is one recording, in which it would be of the first event. */
static bool is_of_later_recording(const struct pd_repair *p, const struct pd_record *r)
{
	const struct pd_session *s = p->session;
	const struct pd_attr *a = r->attr, *first = s->nr_attrs ? s->attrs[0] : NULL;

	return s->first_attr && a && a->index >= s->first_attr && !a->nr_ids &&
	       (a->bytes.size != first->bytes.size ||
		memcmp(a->bytes.data, first->bytes.data, a->bytes.size) != 0);
}

struct ids_of_index {
	const struct pd_session *s;
	bool has_unknown;
};

static void visit_id(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct ids_of_index *ids = ctx;

	ids->has_unknown |= strcmp(f->name, "id") == 0 && !pd_session_by_id(ids->s, value);
}

/* Returns whether the record is an ID_INDEX with an id of no event, with which perf refuses the
 * whole file. It has no samples. */
static bool has_unknown_id(const struct pd_repair *p, const struct pd_record *r)
{
	static const struct pd_visitor v = { .size = sizeof(v), .number = visit_id };
	struct ids_of_index ids = { .s = p->session };

	if (r->frame.type == PD_RECORD_ID_INDEX)
		pd_record_visit(r, &v, &ids);
	return ids.has_unknown;
}

/* Sets an id that belongs to no event to 0: perf rejects unknown ids, and takes 0 for "not
 * known". */
static int forget_id(struct pd_repair *p, uint64_t end, struct pd_error *e)
{
	static const uint8_t none[8];
	const struct pd_attr *first = p->session->attrs[0];
	int failed;

	if (first->trailer_id_at == PD_NO_OFFSET)
		return 0;
	p->report->ids_forgotten++;
	failed = pd_out_at(&p->out, end - first->trailer_id_at, none, sizeof(none));
	return failed ? pd_repair_fail(e, PD_E_IO, failed) : 0;
}

/* Sets the id of the sample at `at` of the output to one of its event, if it belongs to none: perf
 * rejects the file. Linux 6.18 was seen to write ids of another recorder's event. */
static int correct_id(struct pd_repair *p, const struct pd_record *r, uint64_t at,
		      struct pd_error *e)
{
	const struct pd_attr *a = r->attr;
	uint8_t own[8];
	uint64_t id;
	int failed;

	if (r->frame.type != PD_RECORD_SAMPLE || p->session->nr_attrs < 2 || !a || !a->nr_ids ||
	    !pd_session_id_of(p->session, a, PD_RECORD_SAMPLE, r->frame.bytes, &id) || !id ||
	    pd_session_by_id(p->session, id))
		return 0;
	pd_store(own, a->ids[0], sizeof(own), p->session->swap);
	p->report->ids_forgotten++;
	failed = pd_out_at(&p->out, at + a->sample_id_at, own, sizeof(own));
	return failed ? pd_repair_fail(e, PD_E_IO, failed) : 0;
}

/* Counts bytes of a record that are not written. The reader counts skipped ones. */
static void count_dropped(struct pd_repair *p, const struct pd_record *r, uint64_t bytes)
{
	struct pd_account *a = pd_reader_own_account(p->reader);

	p->report->bytes_dropped += bytes;
	if (r->frame.inner_offset != PD_OUTER)
		a->dropped_expanded += bytes;
	else if (r->frame.state != PD_FRAME_SKIPPED)
		a->dropped += bytes;
}

/* Counts a record that is not written, and the data after it. */
static int drop_record(struct pd_repair *p, const struct pd_record *r, struct pd_error *e)
{
	uint64_t bytes = r->frame.bytes.size;
	struct pd_bytes piece;
	int ret;

	while ((ret = pd_reader_read_payload(p->reader, PAYLOAD_CHUNK, &piece, e)) > 0)
		bytes += piece.size;
	p->report->dropped += r->frame.state != PD_FRAME_SKIPPED;
	count_dropped(p, r, bytes);
	return ret;
}

/* Copies the data after the record at `at` of the output; if they end early, corrects the size in
 * the record. */
static int copy_payload(struct pd_repair *p, uint64_t at, const struct pd_record_desc *d,
			uint64_t size, struct pd_error *e)
{
	const struct pd_plan *plan = pd_session_body_plan(p->session, d);
	const struct pd_op *op = plan ? pd_plan_find(plan, d->payload) : NULL;
	uint64_t copied = 0;
	struct pd_bytes piece;
	uint8_t number[8];
	int ret;

	while ((ret = pd_reader_read_payload(p->reader, PAYLOAD_CHUNK, &piece, e)) > 0) {
		const int failed = pd_out_append(&p->out, piece.data, piece.size);

		if (failed)
			return pd_repair_fail(e, PD_E_IO, failed);
		copied += piece.size;
	}
	if (ret < 0)
		return -1;
	if (copied == size || !op || op->offset == PD_VARIABLE)
		return 0;
	p->report->shortened++;
	pd_store(number, copied, op->width, p->session->swap);
	ret = pd_out_at(&p->out, at + PD_RECORD_HEADER_SIZE + op->offset, number, op->width);
	return ret ? pd_repair_fail(e, PD_E_IO, ret) : 0;
}

/* Copies the first `kept` bytes of a record, and sets its size to `own`: the rest are other
 * records. */
static int copy_resized(struct pd_repair *p, const struct pd_record *r, size_t own, size_t kept,
			struct pd_error *e)
{
	const uint64_t at = p->out.offset;
	uint8_t number[2];
	int failed = pd_out_append(&p->out, r->frame.bytes.data, kept);

	pd_store(number, own, sizeof(number), p->session->swap);
	if (!failed)
		failed = pd_out_at(&p->out, at + PD_RECORD_SIZE_AT, number, sizeof(number));
	p->report->records++;
	p->report->expanded += r->frame.inner_offset != PD_OUTER;
	return failed ? pd_repair_fail(e, PD_E_IO, failed) : correct_id(p, r, at, e);
}

/* Copies a record whose damaged size covers the records after it, and copies these. */
static int copy_split(struct pd_repair *p, const struct pd_record *r, size_t own,
		      struct pd_error *e)
{
	const struct pd_bytes bytes = r->frame.bytes;

	for (size_t covered = own; covered < bytes.size; p->report->records++) {
		covered += pd_record_header_load(bytes.data + covered, p->session->swap).size;
		p->report->expanded += r->frame.inner_offset != PD_OUTER;
	}
	p->report->shortened++;
	return copy_resized(p, r, own, bytes.size, e);
}

/* Copies a sample without the bytes after its fields: they are lost. */
static int copy_fields(struct pd_repair *p, const struct pd_record *r, struct pd_error *e)
{
	const size_t rest = pd_record_trailing(r).size, own = r->frame.bytes.size - rest;

	count_dropped(p, r, rest);
	p->report->shortened++;
	return copy_resized(p, r, own, own, e);
}

/* Returns whether the fields are whole and the bytes after them are not. Records are multiples of 8
 * bytes; in others, raw data is read with another padding. */
static bool has_bytes_after_fields(const struct pd_record *r)
{
	return r->error.code == PD_E_TRAILING && r->frame.state == PD_FRAME_WHOLE &&
	       pd_record_trailing(r).size % 8 == 0;
}

int pd_repair_copy_record(struct pd_repair *p, const struct pd_record *r, struct pd_error *e)
{
	const struct pd_record_desc *d = r->frame.desc;
	const uint64_t payload = r->frame.payload;
	uint64_t at;
	size_t own;
	int failed;

	if (pd_repair_is_wrong_attr(p, r))
		return 0;
	if (r->frame.type != PD_RECORD_HEADER_ATTR && r->frame.type != PD_RECORD_HEADER_FEATURE &&
	    pd_repair_write_lost_attrs(p, e))
		return -1;
	if (d && d->compressed) {	/* its records follow, decompressed */
		p->expands = true;
		return 0;
	}
	own = pd_record_own_size(r);
	if (own < r->frame.bytes.size)
		return copy_split(p, r, own, e);
	if (has_bytes_after_fields(r))
		return copy_fields(p, r, e);
	if (!is_good(r) || has_unknown_id(p, r) || is_of_later_recording(p, r))
		return drop_record(p, r, e);
	p->report->records++;
	p->report->expanded += r->frame.inner_offset != PD_OUTER;
	at = p->out.offset;
	failed = pd_out_append(&p->out, r->frame.bytes.data, r->frame.bytes.size);
	if (failed)
		return pd_repair_fail(e, PD_E_IO, failed);
	if (r->error.code == PD_E_NO_ATTR)
		return forget_id(p, p->out.offset, e);
	if (r->frame.type == PD_RECORD_HEADER_ATTR && pd_repair_note_attr(p, r, at, e))
		return -1;
	return payload ? copy_payload(p, at, d, payload, e) : correct_id(p, r, at, e);
}
