/* reader.c - the public reader: returns records one by one. */
#include <string.h>

#include "base/argument.h"
#include "container/attr_copies.h"
#include "pd/pd.h"
#include "reader/reader_internal.h"
#include "stream/wrong_type.h"

void pd_reader_report_in_file(struct pd_reader *r, const struct pd_error *e, const char *file)
{
	struct pd_error with_file = *e;

	with_file.file = file;
	r->said_limit |= pd_code_is_of_memory(e->code);
	if (r->options.on_error)
		r->options.on_error(r->options.ctx, &with_file);
	if (r->options.stop_at && e->severity >= r->options.stop_at && r->stopped.code == PD_OK)
		r->stopped = with_file;
}

void pd_reader_report(struct pd_reader *r, const struct pd_error *e)
{
	pd_reader_report_in_file(r, e, r->file);
}

void pd_reader_report_refused(struct pd_reader *r)
{
	if (!pd_reader_lacks_memory(r) || r->said_limit)
		return;
	pd_reader_report(r, &(struct pd_error){
		.code = PD_E_LIMIT, .severity = PD_DAMAGED,
		.text = "too little memory: features, or names of events and fields, may be "
			"missing" });
}

static void report_packing(struct pd_reader *r, const struct pd_source *source)
{
	const struct pd_error *e = pd_source_damage(source);

	if (!e)
		return;
	if (e->code != PD_E_TRAILING && e->code != PD_E_RESTORED)
		r->container.info.complete = false;
	pd_reader_report(r, e);
}

/* Keeps HEADER_TRACING_DATA in memory with its payload, which later records need. */
static int keep_tracing_data(struct pd_reader *r, struct pd_error *e)
{
	struct pd_frame *f = &r->record.frame;
	size_t size = f->bytes.size;
	struct pd_bytes piece;
	int ret;

	r->tracing_data.size = 0;
	pd_buf_append(&r->tracing_data, f->bytes.data, size);
	while ((ret = pd_stream_payload(&r->stream, 65536, &piece, e)) > 0)
		pd_buf_append(&r->tracing_data, piece.data, piece.size);
	if (r->tracing_data.failed) {
		r->tracing_data.failed = false;
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL,
			.offset = f->offset,
			.record = f->desc->name, .want = f->payload };
		return -1;
	}
	if (ret < 0)
		return -1;
	f->bytes = (struct pd_bytes){ r->tracing_data.data, size };
	r->record.payload =
		(struct pd_bytes){ r->tracing_data.data + size, r->tracing_data.size - size };
	return 0;
}

static void begin_update(struct pd_reader *r)
{
	if (r->quiesce)
		r->quiesce(r->quiesce_ctx);
	r->updates++;
	memset(r->loads, 0, sizeof(r->loads));	/* plans may be freed */
}

int pd_reader_update_session(struct pd_reader *r, struct pd_error *e)
{
	const struct pd_frame *f = &r->record.frame;
	const uint32_t type = f->type;

	if (f->state != PD_FRAME_WHOLE || f->inner_offset != PD_OUTER)
		return 0;
	if (type == PD_RECORD_HEADER_TRACING_DATA && keep_tracing_data(r, e))
		return -1;
	if (pd_reader_updates_session(r, type)) {
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL,
			.offset = f->offset };
		begin_update(r);
		if (r->container.info.mode == PD_MODE_PIPE)
			pd_reader_keep_feature(r);
		return pd_session_update_record(&r->session, type, f->bytes, r->record.payload,
						f->offset);
	}
	return 0;
}

int pd_reader_next_file(struct pd_reader *r)
{
	const struct pd_source_limits limits = pd_reader_limits(r);

	while (r->next_file < r->directory.nr_files) {
		struct pd_error e;

		r->file = r->directory.files[r->next_file++];
		if (r->quiesce)
			r->quiesce(r->quiesce_ctx);
		pd_reader_account_file(r, &r->account);
		pd_stream_free(&r->stream);
		if (r->file_source)
			pd_source_close(r->file_source);
		r->file_source = pd_directory_open(&r->directory, r->file, &limits, &e);
		if (r->file_source) {
			pd_stream_init(&r->stream, r->file_source, &r->session, UINT64_MAX);
			return 1;
		}
		e.severity = PD_DAMAGED;
		pd_reader_report(r, &e);
		pd_stream_init(&r->stream, r->source, &r->session, 0);
	}
	return 0;
}

static void report_copy(void *ctx, const struct pd_error *e)
{
	pd_reader_report(ctx, e);
}

/* Finds out by a record that does not fit whether the attributes of a pipe are damaged. Returns 0,
 * or -1 without memory. */
static int choose_attr_copies(struct pd_reader *r)
{
	const struct pd_report report = { report_copy, r };
	int chosen;

	if (r->copies_tried == PD_COPY_RECORDS || r->record.frame.state != PD_FRAME_WHOLE ||
	    !pd_record_is_of_copy(&r->record))
		return 0;
	begin_update(r);
	chosen = pd_choose_by_record(&r->record, &report);
	r->copies_tried = chosen ? PD_COPY_RECORDS : r->copies_tried + 1;
	return chosen < 0 ? -1 : 0;
}

static __attribute__((noinline)) void correct_type(struct pd_reader *r)
{
	struct pd_error e;

	if (!pd_stream_correct_type(&r->stream, &r->record, &e))
		return;
	r->container.info.complete = false;
	pd_reader_report(r, &e);
}

/* Returns 0, or -1 without memory. */
static inline int prepare_read(struct pd_reader *r)
{
	if (pd_record_prepare(&r->record))
		return -1;
	if (r->record.frame.type != PD_RECORD_SAMPLE)
		correct_type(r);
	return r->session.is_pipe ? choose_attr_copies(r) : 0;
}

/* Reads the next record in the order of the file into r->record. Returns 1, 0 at the end, -1 and
 * *e. */
static int next_as_written(struct pd_reader *r, struct pd_error *e)
{
	struct pd_frame *f = &r->record.frame;
	struct pd_error damage;

	r->record.payload = (struct pd_bytes){ NULL, 0 };
	if (pd_reader_has_batch(r)) {
		r->batch.file = r->file;
		pd_batch_record(&r->batch, &r->batch.records[r->batch.next++], &r->session,
				&r->record);
		return 1;
	}
	for (;;) {
		r->record.payload = (struct pd_bytes){ NULL, 0 };
		switch (pd_stream_next(&r->stream, f, &damage)) {
		case PD_NEXT_RECORD:
			if (f->type >= PD_RECORD_USER_START && pd_reader_update_session(r, e))
				return -1;
			break;
		case PD_NEXT_END:
			report_packing(r, r->file_source ? r->file_source : r->source);
			if (pd_reader_next_file(r))
				continue;
			pd_session_report_missing(&r->session);
			pd_reader_report_refused(r);
			return 0;
		case PD_NEXT_FAILED:
			*e = damage;
			return -1;
		case PD_NEXT_DAMAGE:
			r->container.info.complete = false;
			pd_reader_report(r, &damage);
			if (r->stopped.code)
				break;
			continue;
		case PD_NEXT_DAMAGED:
			r->container.info.complete = false;
			if (f->state == PD_FRAME_CUT)
				r->cut = damage;	/* reported with the record, which may know
							 * the field */
			else
				pd_reader_report(r, &damage);
			if (f->state == PD_FRAME_WHOLE) {
				pd_stream_store_type(&r->stream, f);
				if (pd_reader_update_session(r, e))
					return -1;
			}
			break;
		}
		if (r->stopped.code) {
			*e = r->stopped;
			return -1;
		}
		r->record.file = r->file;
		if (prepare_read(r) == 0)
			return 1;
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL,
			.offset = f->offset };
		return -1;
	}
}

/* Data that `order` keeps with the bytes of a record, whose header has the rest of its frame. */
struct kept {
	uint64_t offset, inner_offset;
	const char *file;
	const struct pd_attr *attr;	/* the event, or one of the same layout; NULL: none */
	const struct pd_plan *plan;
	uint32_t updates;	/* the reader's, when the record was prepared */
	uint32_t wrong_type;	/* of the frame */
	uint16_t nr_ops;
	uint16_t body, trailer;	/* bytes of them; `body` 0: the record is prepared again */
	uint8_t found;		/* enum pd_found */
};

/* Returns whether a prepared record is intact, and filled by its fields. */
static bool is_filled(const struct pd_record *r)
{
	return r->attr && r->plan && r->error.code == PD_OK && r->extent.code == PD_OK &&
	       !r->extent.variant && r->extent.end == r->body.size &&
	       (!r->trailer || r->trailer == r->attr->trailer) &&
	       PD_RECORD_HEADER_SIZE + r->body.size + r->trailer_bytes.size ==
		       r->frame.bytes.size;
}

static struct kept keep_place(const struct pd_reader *r)
{
	const struct pd_record *record = &r->record;
	struct kept k = { .offset = r->read.offset, .inner_offset = r->read.inner_offset,
			  .file = r->file, .updates = r->updates, .attr = record->attr,
			  .wrong_type = r->read.wrong_type };

	if (!k.attr) {
		k.attr = record->layout;
		k.found = (uint8_t)record->found;
	}
	if (!is_filled(record))
		return k;
	k.plan = record->plan;
	k.nr_ops = (uint16_t)record->extent.nr_ops;
	k.body = (uint16_t)record->body.size;
	k.trailer = (uint16_t)record->trailer_bytes.size;
	return k;
}

/* Returns the record that `order` has kept: 1, or -1 without memory. */
static int take_kept(struct pd_reader *r, const struct kept *k, struct pd_bytes bytes)
{
	const struct pd_record_header h = pd_record_header_load(bytes.data, r->session.swap);
	const uint8_t *body = bytes.data + PD_RECORD_HEADER_SIZE;
	struct pd_record *record = &r->record;

	record->payload = (struct pd_bytes){ NULL, 0 };
	record->frame = (struct pd_frame){ .type = h.type, .wrong_type = k->wrong_type,
					   .misc = h.misc, .size = h.size,
					   .bytes = bytes, .offset = k->offset,
					   .inner_offset = k->inner_offset,
					   .desc = pd_record_desc(h.type),
					   .state = PD_FRAME_WHOLE };
	record->file = k->file;
	if (!k->body || k->updates != r->updates)
		return pd_record_prepare_again(record, (enum pd_found)k->found, k->attr) ? -1 : 1;
	record->attr = k->attr;
	record->plan = k->plan;
	record->trailer = k->trailer ? k->attr->trailer : NULL;
	record->body = (struct pd_bytes){ body, k->body };
	record->trailer_bytes = (struct pd_bytes){ k->trailer ? body + k->body : NULL,
						   k->trailer };
	record->extent = (struct pd_extent_of){ .code = PD_OK, .nr_ops = k->nr_ops,
						.end = k->body };
	record->error.code = PD_OK;
	return 1;
}

static bool wants_order(const struct pd_reader *r, uint64_t *time)
{
	return r->record.frame.type < PD_RECORD_USER_START &&
	       r->record.frame.state == PD_FRAME_WHOLE && pd_record_hot_time(&r->record, time) &&
	       *time != 0 && *time != UINT64_MAX;
}

/* Returns whether no record follows, because the input ends inside this one. */
static bool is_last(const struct pd_reader *r)
{
	return r->record.frame.state == PD_FRAME_CUT &&
	       r->record.frame.type < PD_RECORD_USER_START &&
	       r->container.info.mode != PD_MODE_DIRECTORY;
}

/* Not inlined, so that reading in file order is not slowed down. */
static __attribute__((noinline)) int next_by_time(struct pd_reader *r, struct pd_error *e)
{
	for (;;) {
		struct pd_order_item item;
		uint64_t time = 0;
		int ret = pd_order_pop(r->order, &item, e);

		if (ret < 0)
			return -1;
		if (ret)
			return take_kept(r, (const struct kept *)item.meta.data, item.record);
		if (r->has_last) {
			r->has_last = false;
			r->record = r->last;
			return 1;
		}
		if (r->drained) {
			*e = r->ended;
			return r->ended.code == PD_OK ? 0 : -1;
		}
		r->record.frame = r->read;
		ret = next_as_written(r, e);
		r->read = r->record.frame;
		if (ret < 0 && pd_is_pause(e->code))
			return -1;
		if (ret <= 0) {
			r->drained = true;
			if (ret < 0)
				r->ended = *e;
			pd_order_end(r->order);
			continue;
		}
		if (wants_order(r, &time)) {
			const struct kept kept = keep_place(r);
			struct pd_bytes meta = { (const uint8_t *)&kept, sizeof(kept) };

			if (pd_order_push(r->order, time, meta, r->read.bytes, e))
				return -1;
			continue;
		}
		if (is_last(r)) {
			pd_order_end(r->order);
			r->has_last = true;
			r->last = r->record;
			continue;
		}
		if (r->read.type == PD_RECORD_FINISHED_ROUND &&
		    r->container.info.mode != PD_MODE_DIRECTORY)
			pd_order_round(r->order);
		return 1;
	}
}

static __attribute__((noinline)) void report_record(struct pd_reader *r)
{
	const struct pd_record *rec = &r->record;

	if (rec->frame.state == PD_FRAME_CUT) {
		struct pd_error e = rec->error.code == PD_OK ? r->cut : rec->error;

		e.code = r->cut.code;
		e.text = r->cut.text;
		pd_reader_report_in_file(r, &e, rec->file);
	} else if (rec->error.code != PD_OK) {
		pd_reader_report_in_file(r, &rec->error, rec->file);
	} else {
		struct pd_error e = { .code = PD_E_TRAILING, .severity = PD_NOTE,
			.offset = rec->frame.offset,
			.record_type = rec->frame.type, .record = rec->frame.desc->name,
			.have = pd_record_trailing(rec).size };

		pd_reader_report_in_file(r, &e, rec->file);
	}
}

static int next_record(struct pd_reader *r, struct pd_error *e)
{
	int ret = r->order ? next_by_time(r, e) : next_as_written(r, e);

	if (ret != 1)
		return ret;
	if (!pd_reader_is_unremarkable(&r->record))
		report_record(r);
	if (!r->stopped.code)
		return 1;
	*e = r->stopped;
	return -1;
}

int pd_reader_next(struct pd_reader *r, const struct pd_record **out, struct pd_error *e)
{
	struct pd_error unused;
	int ret;

	e = pd_error_or(e, &unused);
	if (!r || !out)
		return pd_refuse(e, "no reader, or no place for a record");
	ret = next_record(r, e);
	*out = &r->record;
	if (ret < 0 && !pd_is_pause(e->code)) {		/* the end was not reached */
		r->container.info.complete = false;
		r->said_limit |= pd_code_is_of_memory(e->code);
	}
	return ret;
}

int pd_reader_read_payload(struct pd_reader *r, size_t n, struct pd_bytes *out, struct pd_error *e)
{
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!r || !out)
		return pd_refuse(e, "no reader, or no place for bytes");
	if (r->record.payload.data) {
		*out = r->record.payload;
		if (out->size > n)
			out->size = n;
		r->record.payload.data += out->size;
		r->record.payload.size -= out->size;
		return (int)out->size;
	}
	*out = (struct pd_bytes){ NULL, 0 };
	if (!r->record.frame.payload)
		return 0;
	return pd_stream_payload(&r->stream, n, out, e);
}
