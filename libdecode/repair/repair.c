/* repair.c - writes the readable part of a recording as a valid file; bytes of records are not
 * changed. */
#include "base/argument.h"
#include "pd/repair.h"

#include <string.h>

#include "output/compose.h"
#include "output/out.h"
#include "output/placeholder_formats.h"
#include "reader/reader.h"
#include "stream/record.h"

#define PAYLOAD_CHUNK 65536

struct repair {
	struct pd_reader *reader;
	struct pd_session *session;
	struct pd_repair_report *report;
	struct pd_out out;
	struct pd_buf buf;
	struct pd_header_values header;
	bool expands;		/* the input has compressed records */
	size_t attrs_done;	/* events of a pipe whose HEADER_ATTR is written */
	struct pd_buf attr_places;	/* struct attr_place: HEADER_ATTRs that were copied */
};

struct attr_place {
	const struct pd_attr *attr;
	uint64_t at;		/* of the record in the output */
	size_t size;
};

static int set_error(struct pd_error *e, enum pd_code code, int error)
{
	*e = (struct pd_error){ .code = code, .severity = PD_FATAL, .have = (uint64_t)error };
	return -1;
}

static int flush_buf(struct repair *p, struct pd_error *e)
{
	int failed = p->buf.failed;

	if (failed)
		return set_error(e, PD_E_LIMIT, 0);
	failed = pd_out_append(&p->out, p->buf.data, p->buf.size);
	p->buf.size = 0;
	return failed ? set_error(e, PD_E_IO, failed) : 0;
}

/* --- before the records --- */

/* Appends an attribute in the size that the header states, with its own size corrected if
 * impossible. */
static void append_attr(struct repair *p, const struct pd_attr *a, size_t size, uint64_t ids_at)
{
	uint8_t *at = pd_buf_reserve(&p->buf, size);
	const size_t have = a->bytes.size < size ? a->bytes.size : size;
	uint32_t own;

	if (!at)
		return;
	memset(at, 0, size);
	memcpy(at, a->bytes.data, have);
	own = pd_attr_size_load(at, p->session->swap);
	p->report->attrs_recovered += a->is_restored;
	if (own && (own < PD_ATTR_SIZE_VER0 || own > size)) {
		pd_store(at + PD_ATTR_SIZE_AT, size, 4, p->session->swap);
		p->report->attrs_recovered++;
	}
	p->buf.size += size;
	pd_compose_section(p->session, a->nr_ids ? ids_at : 0, a->nr_ids * sizeof(uint64_t),
			   &p->buf);
}

static int begin_file(struct repair *p, struct pd_error *e)
{
	const struct pd_file_info *info = pd_reader_file(p->reader);
	const struct pd_session *s = p->session;
	uint64_t ids_at = PD_FILE_HEADER_SIZE;
	uint8_t number[8];

	p->header = (struct pd_header_values){
		.long_size = info->long_size, .size = PD_FILE_HEADER_SIZE,
		.attr_size = info->attr_size };
	pd_compose_header(p->session, &p->header, &p->buf);
	for (size_t i = 0; i < s->nr_attrs; i++)
		for (size_t k = 0; k < s->attrs[i]->nr_ids; k++) {
			pd_store(number, s->attrs[i]->ids[k], sizeof(number), s->swap);
			pd_buf_append(&p->buf, number, sizeof(number));
		}
	p->header.attrs.offset = p->buf.size;
	for (size_t i = 0; i < s->nr_attrs; i++) {
		append_attr(p, s->attrs[i], (size_t)info->attr_size - PD_SECTION_SIZE, ids_at);
		ids_at += s->attrs[i]->nr_ids * sizeof(number);
	}
	p->header.attrs.size = p->buf.size - p->header.attrs.offset;
	p->header.data.offset = p->buf.size;
	return flush_buf(p, e);
}

static int begin_output(struct repair *p, struct pd_error *e)
{
	if (pd_reader_file(p->reader)->mode != PD_MODE_PIPE)
		return p->session->nr_attrs ? begin_file(p, e) : set_error(e, PD_E_NO_ATTR, 0);
	pd_compose_pipe_header(p->session, &p->buf);
	return flush_buf(p, e);
}

/* --- records --- */

/* Returns whether every reader accepts this record. */
static bool is_good(const struct pd_record *r)
{
	if (r->frame.state != PD_FRAME_WHOLE || r->frame.payload_lost || !r->frame.desc)
		return false;
	return r->error.code == PD_OK || (r->error.code == PD_E_NO_ATTR && r->trailer);
}

/* Returns whether only the place after another recording tells the event of the record, which has
 * no id: the output is one recording, in which it would be of the first event. */
static bool is_of_later_recording(const struct repair *p, const struct pd_record *r)
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
static bool has_unknown_id(const struct repair *p, const struct pd_record *r)
{
	static const struct pd_visitor v = { .size = sizeof(v), .number = visit_id };
	struct ids_of_index ids = { .s = p->session };

	if (r->frame.type == PD_RECORD_ID_INDEX)
		pd_record_visit(r, &v, &ids);
	return ids.has_unknown;
}

/* Sets an id that belongs to no event to 0: perf rejects unknown ids, and takes 0 for "not
 * known". */
static int forget_id(struct repair *p, uint64_t end, struct pd_error *e)
{
	static const uint8_t none[8];
	const struct pd_attr *first = p->session->attrs[0];
	int failed;

	if (first->trailer_id_at == PD_NO_OFFSET)
		return 0;
	p->report->ids_forgotten++;
	failed = pd_out_at(&p->out, end - first->trailer_id_at, none, sizeof(none));
	return failed ? set_error(e, PD_E_IO, failed) : 0;
}

/* Sets the id of the sample at `at` of the output to one of its event, if it belongs to none: perf
 * rejects the file. Linux 6.18 was seen to write ids of another recorder's event. */
static int correct_id(struct repair *p, const struct pd_record *r, uint64_t at, struct pd_error *e)
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
	return failed ? set_error(e, PD_E_IO, failed) : 0;
}

/* Counts bytes of a record that are not written. The reader counts skipped ones. */
static void count_dropped(struct repair *p, const struct pd_record *r, uint64_t bytes)
{
	struct pd_account *a = pd_reader_own_account(p->reader);

	p->report->bytes_dropped += bytes;
	if (r->frame.inner_offset != PD_OUTER)
		a->dropped_expanded += bytes;
	else if (r->frame.state != PD_FRAME_SKIPPED)
		a->dropped += bytes;
}

/* Counts a record that is not written, and the data after it. */
static int drop_record(struct repair *p, const struct pd_record *r, struct pd_error *e)
{
	uint64_t bytes = r->frame.bytes.size;
	struct pd_bytes piece;
	int got;

	while ((got = pd_reader_read_payload(p->reader, PAYLOAD_CHUNK, &piece, e)) > 0)
		bytes += piece.size;
	p->report->dropped += r->frame.state != PD_FRAME_SKIPPED;
	count_dropped(p, r, bytes);
	return got;
}

/* Copies the data after the record at `at` of the output; if they end early, corrects the size in
 * the record. */
static int copy_payload(struct repair *p, uint64_t at, const struct pd_record_desc *d,
			uint64_t size, struct pd_error *e)
{
	const struct pd_plan *plan = pd_session_body_plan(p->session, d);
	const struct pd_op *op = plan ? pd_plan_find(plan, d->payload) : NULL;
	uint64_t copied = 0;
	struct pd_bytes piece;
	uint8_t number[8];
	int got;

	while ((got = pd_reader_read_payload(p->reader, PAYLOAD_CHUNK, &piece, e)) > 0) {
		const int failed = pd_out_append(&p->out, piece.data, piece.size);

		if (failed)
			return set_error(e, PD_E_IO, failed);
		copied += piece.size;
	}
	if (got < 0)
		return -1;
	if (copied == size || !op || op->offset == PD_VARIABLE)
		return 0;
	p->report->shortened++;
	pd_store(number, copied, op->width, p->session->swap);
	got = pd_out_at(&p->out, at + PD_RECORD_HEADER_SIZE + op->offset, number, op->width);
	return got ? set_error(e, PD_E_IO, got) : 0;
}

/* Copies the first `kept` bytes of a record, and sets its size to `own`: the rest are other
 * records. */
static int copy_resized(struct repair *p, const struct pd_record *r, size_t own, size_t kept,
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
	return failed ? set_error(e, PD_E_IO, failed) : correct_id(p, r, at, e);
}

/* Copies a record whose damaged size covers the records after it, and copies these. */
static int copy_split(struct repair *p, const struct pd_record *r, size_t own, struct pd_error *e)
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
static int copy_fields(struct repair *p, const struct pd_record *r, struct pd_error *e)
{
	const size_t rest = pd_record_trailing(r).size, own = r->frame.bytes.size - rest;

	count_dropped(p, r, rest);
	p->report->shortened++;
	return copy_resized(p, r, own, own, e);
}

/* Returns whether the record is the HEADER_ATTR of an event that write_lost_attrs() writes. */
static bool is_wrong_attr(const struct repair *p, const struct pd_record *r)
{
	const struct pd_session *s = p->session;

	return r->frame.type == PD_RECORD_HEADER_ATTR && r->frame.state == PD_FRAME_WHOLE &&
	       pd_reader_file(p->reader)->mode == PD_MODE_PIPE && s->nr_attrs > p->attrs_done &&
	       s->attrs[s->nr_attrs - 1]->has_wrong_size;
}

/* Appends a HEADER_ATTR record of an event. */
static int write_header_attr(struct repair *p, const struct pd_attr *a, struct pd_error *e)
{
	const size_t fixed = PD_RECORD_HEADER_SIZE + a->bytes.size;
	const size_t most = (UINT16_MAX - fixed) / sizeof(uint64_t);
	const size_t nr_ids = a->nr_ids < most ? a->nr_ids : most;
	const size_t size = fixed + nr_ids * sizeof(uint64_t);
	const struct pd_record_header h = { PD_RECORD_HEADER_ATTR, 0, (uint16_t)size };
	uint8_t *at = pd_buf_reserve(&p->buf, size);

	if (!at)
		return set_error(e, PD_E_LIMIT, 0);
	pd_record_header_store(at, h, p->session->swap);
	at += PD_RECORD_HEADER_SIZE;
	memcpy(at, a->bytes.data, a->bytes.size);
	at += a->bytes.size;
	for (size_t i = 0; i < nr_ids; i++)
		pd_store(at + i * sizeof(uint64_t), a->ids[i], sizeof(uint64_t), p->session->swap);
	p->buf.size += size;
	p->report->attrs_recovered++;
	p->report->records++;
	return flush_buf(p, e);
}

/* Writes the events of a pipe whose HEADER_ATTR could not be copied, after the features: EVENT_DESC
 * may state their ids. */
static int write_lost_attrs(struct repair *p, struct pd_error *e)
{
	const struct pd_session *s = p->session;

	for (; p->attrs_done < s->nr_attrs; p->attrs_done++)
		if ((s->attrs[p->attrs_done]->has_wrong_size ||
		     s->attrs[p->attrs_done]->has_no_record) &&
		    write_header_attr(p, s->attrs[p->attrs_done], e))
			return -1;
	return 0;
}

/* Notes where the HEADER_ATTR of a pipe was copied to: EVENT_DESC, which comes later, may show that
 * it is damaged. */
static int note_attr_place(struct repair *p, const struct pd_record *r, uint64_t at,
			   struct pd_error *e)
{
	const struct pd_session *s = p->session;
	const struct attr_place place = { s->nr_attrs ? s->attrs[s->nr_attrs - 1] : NULL, at,
		r->frame.bytes.size };

	/* the last event is that of the record, if it has added one */
	if (!place.attr || place.attr->has_no_record || r->frame.inner_offset != PD_OUTER ||
	    pd_reader_file(p->reader)->mode != PD_MODE_PIPE)
		return 0;
	pd_buf_append(&p->attr_places, &place, sizeof(place));
	return p->attr_places.failed ? set_error(e, PD_E_LIMIT, 0) : 0;
}

/* Writes the attribute and ids of an event over those of its HEADER_ATTR, which were zeroed. */
static int rewrite_attr(struct repair *p, const struct attr_place *place, struct pd_error *e)
{
	const struct pd_attr *a = place->attr;
	const struct pd_bytes attr = a->whole_copy.size ? a->whole_copy : a->bytes;
	const size_t room = place->size - PD_RECORD_HEADER_SIZE;
	int failed = 0;

	if (attr.size > room)
		return 0;
	p->buf.size = 0;
	pd_buf_append(&p->buf, attr.data, attr.size);
	for (size_t i = 0; i < a->nr_ids && room - p->buf.size >= sizeof(uint64_t); i++) {
		uint8_t id[sizeof(uint64_t)];

		pd_store(id, a->ids[i], sizeof(id), p->session->swap);
		if (a->ids[i])
			pd_buf_append(&p->buf, id, sizeof(id));
	}
	if (p->buf.failed)
		return set_error(e, PD_E_LIMIT, 0);
	failed = pd_out_at(&p->out, place->at + PD_RECORD_HEADER_SIZE, p->buf.data, p->buf.size);
	p->buf.size = 0;
	p->report->attrs_recovered++;
	return failed ? set_error(e, PD_E_IO, failed) : 0;
}

/* Rewrites the HEADER_ATTRs whose zeroed attributes EVENT_DESC has restored. */
static int rewrite_attrs(struct repair *p, struct pd_error *e)
{
	for (size_t at = 0; at < p->attr_places.size; at += sizeof(struct attr_place)) {
		struct attr_place place;

		memcpy(&place, p->attr_places.data + at, sizeof(place));
		if (place.attr->is_restored && rewrite_attr(p, &place, e))
			return -1;
	}
	return 0;
}

/* Returns whether the fields are whole and the bytes after them are not. Records are multiples of 8
 * bytes; in others, raw data is read with another padding. */
static bool has_bytes_after_fields(const struct pd_record *r)
{
	return r->error.code == PD_E_TRAILING && r->frame.state == PD_FRAME_WHOLE &&
	       pd_record_trailing(r).size % 8 == 0;
}

static int copy_record(struct repair *p, const struct pd_record *r, struct pd_error *e)
{
	const struct pd_record_desc *d = r->frame.desc;
	const uint64_t payload = r->frame.payload;
	uint64_t at;
	size_t own;
	int failed;

	if (is_wrong_attr(p, r))
		return 0;
	if (r->frame.type != PD_RECORD_HEADER_ATTR && r->frame.type != PD_RECORD_HEADER_FEATURE &&
	    write_lost_attrs(p, e))
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
		return set_error(e, PD_E_IO, failed);
	if (r->error.code == PD_E_NO_ATTR)
		return forget_id(p, p->out.offset, e);
	if (r->frame.type == PD_RECORD_HEADER_ATTR && note_attr_place(p, r, at, e))
		return -1;
	return payload ? copy_payload(p, at, d, payload, e) : correct_id(p, r, at, e);
}

static int copy_records(struct repair *p, struct pd_error *e)
{
	const struct pd_record *r;
	int got;

	while ((got = pd_reader_next(p->reader, &r, e)) > 0)
		if (copy_record(p, r, e))
			return -1;
	if (got < 0 && pd_code_is_of_memory(e->code))
		return -1;
	if (got < 0)	/* the rest is unreadable: keeps what came before */
		pd_reader_report(p->reader, e);
	return write_lost_attrs(p, e) || rewrite_attrs(p, e) ? -1 : 0;
}

/* --- after the records --- */

/* Returns whether the feature is true of the old file only. AUXTRACE gives the offsets of the
 * AUXTRACE records. */
static bool is_obsolete(const struct repair *p, uint32_t id)
{
	return id == PD_FEATURE_AUXTRACE || (id == PD_FEATURE_COMPRESSED && p->expands) ||
	       (id == PD_FEATURE_DIR_FORMAT &&
		pd_reader_file(p->reader)->mode == PD_MODE_DIRECTORY);
}

/* Makes placeholder formats if the tracepoint formats are unusable. Returns 1 if it did, 0 if there
 * is no need, -1 and *e. Formats are the first feature bit. */
static int replace_formats(struct repair *p, struct pd_buf *sections, struct pd_error *e)
{
	struct pd_feature f = { .id = PD_FEATURE_TRACING_DATA };
	struct pd_error ignored;
	enum pd_placeholder_formats made;

	for (size_t i = 0; i < pd_reader_nr_features(p->reader); i++)
		if (pd_reader_feature(p->reader, i, &f, &ignored) ||
		    f.id == PD_FEATURE_TRACING_DATA)
			break;
	made = pd_placeholder_tracing_data(
		p->session,
		f.id == PD_FEATURE_TRACING_DATA ? f.bytes : (struct pd_bytes){ NULL, 0 }, sections);
	if (made == PD_PLACEHOLDERS_FAILED)
		return set_error(e, PD_E_LIMIT, 0);
	return made == PD_PLACEHOLDERS_MADE;
}

/* Returns whether the section is complete and intact. */
static bool is_whole(struct repair *p, const struct pd_feature *f)
{
	const struct pd_file_info *info = pd_reader_file(p->reader);
	struct pd_extent_of extent;

	for (size_t k = 0; k < info->nr_sections; k++)
		if (info->sections[k].feature == f->id && info->sections[k].offset == f->offset &&
		    f->id && info->sections[k].size != f->bytes.size)
			return false;
	if (pd_reader_feature_is_changed(p->reader, f->id))
		return false;
	return pd_session_check_feature(p->session, f->id, f->bytes, &extent) == PD_OK;
}

/* Sections may overlap: no more is counted than their total size. */
static void drop_feature(struct repair *p, const struct pd_feature *f)
{
	struct pd_account *own = pd_reader_own_account(p->reader), a = { .size = sizeof(a) };

	pd_reader_account(p->reader, &a);
	p->report->features_dropped[f->id] = true;
	own->dropped_features += f->bytes.size;
	if (own->dropped_features > a.features)
		own->dropped_features = a.features;
}

/* Writes the feature tables and the sections that are kept. */
static int copy_features(struct repair *p, struct pd_error *e)
{
	struct pd_section kept[PD_FEATURE_BITS + 1];
	struct pd_buf sections = { .budget = p->session->budget };
	size_t n = 0;
	int failed;

	failed = replace_formats(p, &sections, e);
	if (failed < 0)
		return -1;
	if (failed) {
		kept[n++] = (struct pd_section){ .feature = PD_FEATURE_TRACING_DATA,
			.size = sections.size };
		p->report->placeholder_formats = true;
	}
	for (size_t i = 0; i < pd_reader_nr_features(p->reader); i++) {
		struct pd_feature f;
		struct pd_error damage;
		const bool is_read = pd_reader_feature(p->reader, i, &f, &damage) == 0;

		if (is_obsolete(p, f.id))
			continue;
		if (!is_read || !is_whole(p, &f) ||
		    (f.id == PD_FEATURE_TRACING_DATA && p->report->placeholder_formats)) {
			drop_feature(p, &f);
			continue;
		}
		kept[n++] = (struct pd_section){ .feature = f.id, .size = f.bytes.size };
		pd_buf_append(&sections, f.bytes.data, f.bytes.size);
		p->report->features[f.id] = true;
	}
	failed = pd_compose_feature_tables(p->session, p->out.offset, kept, n, &p->header,
					   &p->buf);
	pd_buf_append(&p->buf, sections.data, sections.size);
	failed = failed || sections.failed ? set_error(e, PD_E_LIMIT, 0) : flush_buf(p, e);
	pd_buf_free(&sections);
	return failed;
}

static int finish_output(struct repair *p, struct pd_error *e)
{
	const struct pd_file_info *info = pd_reader_file(p->reader);
	int failed;

	if (!p->report->records)
		return set_error(e, PD_E_UNFINISHED, 0);
	if (info->mode != PD_MODE_PIPE) {
		p->header.data.size = p->out.offset - p->header.data.offset;
		for (size_t i = 0; i < PD_FEATURE_BITS; i++)	/* if the table was never written,
								 * or is lost */
			p->report->features_dropped[i] =
				info->adds_features[i] && !is_obsolete(p, (uint32_t)i);
		if (copy_features(p, e))
			return -1;
		for (size_t i = 0; i < PD_FEATURE_BITS; i++)
			p->report->features_dropped[i] &= !p->report->features[i];
		pd_compose_header(p->session, &p->header, &p->buf);
		if (p->buf.failed)
			return set_error(e, PD_E_LIMIT, 0);
		failed = pd_out_at(&p->out, 0, p->buf.data, p->buf.size);
		if (failed)
			return set_error(e, PD_E_IO, failed);
	} else if (!p->session->nr_attrs) {
		return set_error(e, PD_E_NO_ATTR, 0);
	}
	failed = pd_out_flush(&p->out);
	return failed ? set_error(e, PD_E_IO, failed) : 0;
}

int pd_reader_repair(struct pd_reader *r, int fd, struct pd_repair_report *report,
		     struct pd_error *e)
{
	struct pd_repair_report unused_report;
	struct repair p = { .reader = r, .report = report ? report : &unused_report };
	struct pd_error unused;
	int failed = -1;

	e = pd_error_or(e, &unused);
	if (!r)
		return pd_refuse(e, "no reader");
	p.session = pd_reader_session(r);
	*p.report = (struct pd_repair_report){ .records = 0 };
	p.buf.budget = p.attr_places.budget = p.session->budget;
	if (pd_out_init(&p.out, fd))
		return set_error(e, PD_E_NOMEM, 0);
	if (begin_output(&p, e) == 0 && copy_records(&p, e) == 0 && finish_output(&p, e) == 0)
		failed = 0;
	pd_buf_free(&p.buf);
	pd_buf_free(&p.attr_places);
	pd_out_free(&p.out);
	return failed;
}

const char *pd_feature_name(uint32_t id)
{
	const struct pd_feature_desc *d = pd_feature_desc(id);

	return d ? d->field->name : NULL;
}
