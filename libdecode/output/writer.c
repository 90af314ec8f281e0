/* writer.c - write a recording while it is made: pd_writer of the public header. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/argument.h"
#include "layout/container.h"
#include "output/writer_internal.h"
#include "stream/records_end.h"

#define MEMORY_LIMIT (1ull << 30)		/* bounds mistakes of the caller */
#define UPDATE_NAME 2
#define DATA_SIZE_AT 48			/* offset of data.size in a file's header */

/* Readers of an unfinished file rely on the size in the header. */
static int update_data_size(void *writer, struct pd_out *out)
{
	struct pd_writer *w = writer;
	uint64_t size = out->offset - w->header.data.offset;

	if (size == w->stated_size)
		return 0;
	w->stated_size = size;
	return w->options.mode == PD_MODE_FILE ? pd_out_at(out, DATA_SIZE_AT, &size, sizeof(size)) :
		0;
}

struct pd_writer *pd_writer_open_fd(int fd, const struct pd_writer_options *o, struct pd_error *e)
{
	struct pd_writer_options options = { .size = sizeof(options) };
	struct pd_error unused;
	struct pd_writer *w;

	e = pd_error_or(e, &unused);
	if ((o && pd_options_take(&options, sizeof(options), o, o->size)) ||
	    options.mode > PD_MODE_DIRECTORY || options.by > PD_WRITE_BY_THREAD) {
		pd_refuse(e, options.mode > PD_MODE_DIRECTORY ? "the mode is invalid" :
								"an option is invalid");
		return NULL;
	}
	pd_writer_fail(e, PD_E_NOMEM, 0);
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->options = options;
	w->budget.limit = MEMORY_LIMIT;
	w->scratch.budget = w->session.budget = &w->budget;
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		w->features[i].bytes.budget = &w->budget;
	if (pd_out_init(&w->out, fd) || pd_session_init(&w->session, &w->budget, PD_SWAP_NO))
		goto out;
	if (w->options.compress) {
		w->compressor = pd_compressor_new(w->options.compress, PD_AS_COMPRESSED,
						  PD_SWAP_NO);
		if (!w->compressor) {
			pd_refuse(e, "the compression level is not supported");
			goto out;
		}
	}
	if (w->options.mode == PD_MODE_FILE && lseek(fd, 0, SEEK_SET) < 0) {
		pd_writer_fail(e, PD_E_IO, (uint64_t)errno);
		goto out;
	}
	return w;
out:
	pd_writer_free(w);
	return NULL;
}

void pd_writer_free(struct pd_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		pd_buf_free(&w->features[i].bytes);
	pd_buf_free(&w->scratch);
	pd_async_writer_free(w->async);
	pd_compressor_free(w->compressor);
	pd_out_free(&w->out);
	pd_session_free(&w->session);
	free(w);
}

int pd_writer_add_event(struct pd_writer *w, const void *attr, size_t attr_size,
			const uint64_t *ids, size_t nr_ids,
			const char *name, struct pd_error *e)
{
	struct pd_attr *a;
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!w || (!ids && nr_ids))
		return pd_refuse(e, "no writer, or no ids");
	if (w->stage != ADDING_EVENTS)
		return pd_refuse(e, "events must be added before pd_writer_begin()");
	if (!attr || attr_size < PD_ATTR_SIZE_VER0 || attr_size > UINT16_MAX - PD_SECTION_SIZE)
		return pd_refuse(e, "no perf_event_attr has this size");
	a = pd_session_add_attr(&w->session, (struct pd_bytes){ attr, attr_size });
	if (!a)
		return pd_writer_fail(e, PD_E_NOMEM, 0);
	for (size_t i = 0; i < nr_ids; i++)
		if (pd_session_add_id(&w->session, a, ids[i]) < 0)
			return pd_writer_fail(e, PD_E_NOMEM, 0);
	if (name)
		pd_session_rename(&w->session, a,
				  (struct pd_bytes){ (const uint8_t *)name, strlen(name) },
				  PD_NAME_FROM_FILE);
	if (attr_size + PD_SECTION_SIZE > w->header.attr_size)
		w->header.attr_size = attr_size + PD_SECTION_SIZE;
	return 0;
}

static int begin_pipe(struct pd_writer *w, struct pd_error *e)
{
	const struct pd_session *s = &w->session;
	struct pd_buf desc = { .budget = &w->budget };
	int err;

	w->scratch.size = 0;
	if (pd_compose_pipe_header(&w->session, &w->scratch))
		return pd_writer_fail(e, PD_E_NOMEM, 0);
	pd_writer_append(w, w->scratch.data, w->scratch.size);
	for (size_t i = 0; i < s->nr_attrs; i++) {
		const struct pd_attr *a = s->attrs[i];
		const struct pd_value values[] = {
			PD_BYTES("attr", a->bytes.data, a->bytes.size), PD_NUMBERS("ids", a->ids,
										   a->nr_ids) };

		if (pd_writer_own_record(w, PD_RECORD_HEADER_ATTR, values, 2, e))
			return -1;
	}
	for (size_t i = 0; i < s->nr_attrs; i++) {
		const struct pd_attr *a = s->attrs[i];
		const struct pd_value values[] = { PD_NUMBER("update_type", UPDATE_NAME),
			PD_NUMBER("id", a->nr_ids ? a->ids[0] : 0), PD_TEXT("name", a->name) };

		if (a->nr_ids && a->name_from == PD_NAME_FROM_FILE &&
		    pd_writer_own_record(w, PD_RECORD_EVENT_UPDATE, values, 3, e))
			return -1;
	}
	err = pd_writer_compose_event_desc(w, &desc, e) ||
		 pd_writer_store_feature(w, PD_FEATURE_EVENT_DESC, pd_buf_bytes(&desc), e) ||
			 pd_writer_encode_compressed(w, e);
	pd_buf_free(&desc);
	return err ? -1 : pd_writer_check_io(w->out.failed, e);
}

/* Order: ids of all events, attrs, data. */
static void place_sections(struct pd_writer *w)
{
	struct pd_header_values *h = &w->header;

	h->long_size = 8;
	h->size = PD_FILE_HEADER_SIZE;
	if (!h->attr_size)	/* no events, but readers divide by it */
		h->attr_size = PD_ATTR_SIZE_VER0 + PD_SECTION_SIZE;
	h->attrs.offset = PD_FILE_HEADER_SIZE;
	for (size_t i = 0; i < w->session.nr_attrs; i++)
		h->attrs.offset += w->session.attrs[i]->nr_ids * sizeof(uint64_t);
	h->attrs.size = w->session.nr_attrs * h->attr_size;
	h->data.offset = h->attrs.offset + h->attrs.size;
}

static int begin_file(struct pd_writer *w, struct pd_error *e)
{
	const struct pd_session *s = &w->session;
	const struct pd_header_values *h = &w->header;
	struct pd_header_values unfinished;
	uint64_t ids_at = PD_FILE_HEADER_SIZE;
	struct pd_buf *b = &w->scratch;

	place_sections(w);
	b->size = 0;
	unfinished = *h;
	unfinished.event_types.offset = PD_UNFINISHED_AT;	/* until pd_writer_finish() */
	pd_compose_header(&w->session, &unfinished, b);
	for (size_t i = 0; i < s->nr_attrs; i++)
		pd_buf_append(b, s->attrs[i]->ids, s->attrs[i]->nr_ids * sizeof(uint64_t));
	for (size_t i = 0; i < s->nr_attrs; i++) {
		const struct pd_attr *a = s->attrs[i];
		const size_t end = b->size + h->attr_size - PD_SECTION_SIZE;

		pd_buf_append(b, a->bytes.data, a->bytes.size);
		while (b->size < end && !b->failed)
			pd_buf_append(b, "", 1);
		if (pd_compose_section(&w->session, ids_at, a->nr_ids * sizeof(uint64_t), b))
			return pd_writer_fail(e, PD_E_NOMEM, 0);
		ids_at += a->nr_ids * sizeof(uint64_t);
	}
	if (b->failed)
		return pd_writer_fail(e, PD_E_NOMEM, 0);
	pd_out_append(&w->out, b->data, b->size);
	return pd_writer_check_io(pd_out_flush(&w->out), e);
}

/* Without a thread the caller compresses and writes itself. */
static void start_async_writer(struct pd_writer *w)
{
	const struct pd_async_writer_work work = {
		.out = &w->out, .compressor = w->compressor, .flushed = update_data_size,
		.watch = pd_writer_notify_watch, .ctx = w };
	const enum pd_write_by by = w->options.by;

	if (by == PD_WRITE_BY_THREAD || (by == PD_WRITE_BY_EITHER && w->compressor))
		w->async = pd_async_writer_new(&work);
}

/* Makes the caller the owner of out and compressor again. */
static int end_async_writer(struct pd_writer *w)
{
	int err = w->async ? pd_async_writer_wait(w->async) : 0;

	pd_async_writer_free(w->async);
	w->async = NULL;
	return err || !w->compressor ? err : pd_compressor_flush(w->compressor, &w->out);
}

int pd_writer_begin(struct pd_writer *w, struct pd_error *e)
{
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!w)
		return pd_refuse(e, "no writer");
	if (w->stage != ADDING_EVENTS)
		return pd_refuse(e, "pd_writer_begin() was already called");
	w->stage = RECORDING;
	w->watching = w->options.mode == PD_MODE_DIRECTORY;
	if (w->watching)
		return 0;
	pd_session_name_events(&w->session);
	if (w->options.mode == PD_MODE_PIPE ? begin_pipe(w, e) : begin_file(w, e)) {
		w->stage = ENDED;	/* no records after a partial header */
		return -1;
	}
	w->watching = true;
	start_async_writer(w);
	return 0;
}

static int append_records(struct pd_writer *w, struct pd_bytes records)
{
	if (w->async)
		return w->compressor ? pd_async_writer_compress(w->async, records) :
			pd_async_writer_copy(w->async, records);
	pd_writer_notify_watch(w, records);
	return w->compressor ? pd_compressor_write(w->compressor, records, &w->out) :
	       pd_out_append(&w->out, records.data, records.size);
}

static int check_spans(const struct pd_bytes *spans, size_t n, struct pd_error *e)
{
	if (!spans && n)
		return pd_refuse(e, "no spans");
	for (size_t i = 0; i < n; i++)
		if (!pd_is_span(spans[i]))
			return pd_refuse(e, "a span without bytes");
	return 0;
}

int pd_writer_write(struct pd_writer *w, const struct pd_bytes *spans, size_t n, struct pd_error *e)
{
	int err = 0;
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (pd_writer_require_recording(w, e) || check_spans(spans, n, e))
		return -1;
	for (size_t i = 0; i < n && !err; i++)
		err = append_records(w, spans[i]);
	return pd_writer_check_io(err, e);
}

int pd_writer_lend(struct pd_writer *w, const struct pd_bytes *spans, size_t n,
		   const struct pd_lender *from, struct pd_error *e)
{
	int err = 0;
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (pd_writer_require_recording(w, e) || check_spans(spans, n, e))
		return -1;
	if (!from || !from->give_back)
		return pd_refuse(e, "no lender");
	for (size_t i = 0; i < n && !err; i++) {
		if (w->async && w->compressor) {
			err = pd_async_writer_lend(w->async, spans[i], from);
			continue;
		}
		err = append_records(w, spans[i]);
		if (!err)
			from->give_back(from->owner, spans[i].size);
	}
	return pd_writer_check_io(err, e);
}

/* Sets what depends on the event: the layout of a SAMPLE or READ, and the trailer of other
 * records. */
static int apply_event(const struct pd_writer *w, struct pd_compose_record *r, int event,
		       const struct pd_value *object, struct pd_error *e)
{
	static const struct pd_value zeros = PD_OBJECT("sample_id", NULL, 0);
	const struct pd_record_desc *d = pd_record_desc(r->type);
	const pd_node sample_id = pd_value_values.member(object, "sample_id");
	const bool has_trailer = event >= 0 &&
		(d ? d->trailer == PD_TRAILER : r->type < PD_RECORD_USER_START);

	pd_refuse(e, NULL);
	e->record_type = r->type;
	e->record = pd_writer_record_name(r->type);
	if (event >= 0 && (size_t)event >= w->session.nr_attrs)
		e->text = "no event was added with this index";
	else if (event < 0 && (r->type == PD_RECORD_SAMPLE || r->type == PD_RECORD_READ))
		e->text = "its layout depends on an event, so it needs an event's index";
	else if (sample_id && !has_trailer)
		e->text = event < 0 ? "sample_id needs an event" :
			  "records of this type have no sample_id";
	if (e->text)
		return -1;
	r->attr = event >= 0 && r->type < PD_RECORD_USER_START ? w->session.attrs[event] : NULL;
	if (has_trailer)
		r->sample_id = sample_id ? sample_id : &zeros;
	return 0;
}

int pd_writer_record(struct pd_writer *w, uint32_t type, uint16_t misc, int event,
		     const struct pd_value *fields,
		     size_t n, struct pd_bytes payload, struct pd_error *e)
{
	const struct pd_value object = PD_OBJECT(NULL, fields, n);
	struct pd_compose_record r = { .type = type, .misc = misc, .size = PD_SIZE_OPEN,
		.cut = PD_SIZE_OPEN };
	struct pd_pack_error p;
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!pd_is_span(payload) || (!fields && n))
		return pd_refuse(e, "no fields or no payload");
	if (pd_writer_require_recording(w, e) || apply_event(w, &r, event, &object, e))
		return -1;
	if (pd_writer_compose(w, &r, fields, n, &p))
		return pd_writer_fail_pack(w, pd_writer_record_name(type), type, &p, e);
	if (pd_writer_check_io(pd_writer_append(w, w->scratch.data, w->scratch.size), e))
		return -1;
	if (!payload.size)
		return 0;
	return pd_writer_check_io(pd_writer_append(w, payload.data, payload.size), e);
}

int pd_writer_flush_soon(struct pd_writer *w, struct pd_error *e)
{
	int err;
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (!w)
		return pd_refuse(e, "no writer");
	if (w->stage >= ENDED)
		return pd_writer_require_recording(w, e);
	if (w->async)
		return pd_writer_check_io(pd_async_writer_flush(w->async), e);
	err = w->compressor ? pd_compressor_flush(w->compressor, &w->out) : 0;
	if (!err)
		err = pd_out_flush(&w->out);
	if (!err && w->stage != ADDING_EVENTS)
		err = update_data_size(w, &w->out);
	return pd_writer_check_io(err, e);
}

int pd_writer_flush(struct pd_writer *w, struct pd_error *e)
{
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (pd_writer_flush_soon(w, e))
		return -1;
	return w->async ? pd_writer_check_io(pd_async_writer_wait(w->async), e) : 0;
}

uint64_t pd_writer_size(const struct pd_writer *w)
{
	if (!w)
		return 0;
	return w->async ? pd_async_writer_size(w->async) : w->out.offset;
}

static int write_header(struct pd_writer *w, struct pd_error *e)
{
	w->scratch.size = 0;
	if (pd_compose_header(&w->session, &w->header, &w->scratch))
		return pd_writer_fail(e, PD_E_NOMEM, 0);
	return pd_writer_check_io(pd_out_at(&w->out, 0, w->scratch.data, w->scratch.size), e);
}

static int complete_output(struct pd_writer *w, struct pd_error *e)
{
	if (pd_writer_check_io(end_async_writer(w), e))
		return -1;
	if (w->options.mode != PD_MODE_FILE)
		return pd_writer_check_io(pd_out_flush(&w->out), e);
	w->header.data.size = w->out.offset - w->header.data.offset;
	if (!w->features[PD_FEATURE_EVENT_DESC].given) {
		w->features[PD_FEATURE_EVENT_DESC].given = true;
		if (pd_writer_compose_event_desc(w, &w->features[PD_FEATURE_EVENT_DESC].bytes, e))
			return -1;
	}
	if (pd_writer_encode_compressed(w, e) || pd_writer_write_features(w, e))
		return -1;
	return write_header(w, e);
}

int pd_writer_finish(struct pd_writer *w, struct pd_error *e)
{
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	if (pd_writer_require_recording(w, e))
		return -1;
	w->stage = ENDED;
	if (complete_output(w, e))
		return -1;
	w->stage = FINISHED;
	return 0;
}

/* Returns the end of the records that reached the descriptor. */
static uint64_t end_of_records(const struct pd_writer *w)
{
	const uint64_t end = w->header.data.offset + w->header.data.size;

	return w->header.data.size && end < w->out.written ? end : w->out.written;
}

int pd_writer_abort(struct pd_writer *w, uint64_t *kept, struct pd_error *e)
{
	uint64_t begin, size, unused_kept;
	struct pd_error unused;

	e = pd_error_or(e, &unused);
	kept = kept ? kept : &unused_kept;
	if (!w)
		return pd_refuse(e, "no writer");
	if (w->stage == FINISHED)
		return pd_writer_require_recording(w, e);
	begin = w->header.data.offset;
	if (!end_async_writer(w) && w->stage == RECORDING)
		pd_out_flush(&w->out);
	*kept = end_of_records(w);
	w->stage = ENDED;
	if (*kept < begin)	/* a partial header */
		*kept = 0;
	if (!*kept || w->options.mode == PD_MODE_PIPE)
		return 0;
	*kept = pd_records_end(&w->session, w->out.fd, begin + w->stated_size, *kept);
	pd_out_cut(&w->out, *kept);
	size = *kept - begin;
	return w->options.mode == PD_MODE_FILE ?
		pd_writer_check_io(pd_out_at(&w->out, DATA_SIZE_AT, &size, sizeof(size)), e) : 0;
}
