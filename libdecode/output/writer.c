/* writer.c - write a recording while it is made: pd_writer of the public header. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layout/container.h"
#include "output/async_writer.h"
#include "output/compose.h"
#include "output/compressor.h"
#include "output/out.h"
#include "pd/write.h"
#include "stream/records_end.h"

#define MEMORY_LIMIT (1ull << 30)		/* bounds mistakes of the caller */
#define UPDATE_NAME 2
#define ZSTD 1
#define DATA_SIZE_AT 48			/* offset of data.size in a file's header */

struct pd_writer {
	struct pd_writer_options options;
	struct pd_budget budget;
	struct pd_session session;
	struct pd_out out;
	struct pd_compressor *compressor;
	/* or NULL; owns `out` and `compressor` while it exists */
	struct pd_async_writer *async;
	bool watching;			/* pass records to options.watch */
	uint64_t stated_size;		/* data.size in the header: records up to the last flush */
	struct pd_buf scratch;
	struct pd_header_values header;
	struct pd_composed_feature features[PD_FEATURE_BITS];
	enum stage { ADDING_EVENTS, RECORDING, ENDED } stage;
	/* in the caller's values; pd_error borrows its texts */
	struct pd_pack_error pack_error;
};

static int fail(struct pd_error *e, enum pd_code code, uint64_t have)
{
	*e = (struct pd_error){ .code = code, .severity = PD_FATAL, .have = have };
	return -1;
}

/* Reports a wrong call. The text must be static. */
static int fail_argument(struct pd_error *e, const char *text)
{
	*e = (struct pd_error){ .code = PD_E_ARGUMENT, .severity = PD_FATAL, .text = text };
	return -1;
}

/* Records belong between begin and finish: earlier they would precede the header, later the header
 * would no longer match. */
static int require_recording(const struct pd_writer *w, struct pd_error *e)
{
	if (w->stage == RECORDING)
		return 0;
	return fail_argument(e, w->stage == ENDED ?
			     "the writer has finished and can only be freed" :
			     "pd_writer_begin() must be called first");
}

/* Reports values of the caller that can't be packed. `name` is static, and a feature's path begins
 * with it. */
static int fail_pack(struct pd_writer *w, const char *name, uint32_t type,
		     const struct pd_pack_error *p, struct pd_error *e)
{
	const char *path = w->pack_error.path;
	size_t n = name ? strlen(name) : 0;

	w->pack_error = *p;
	if (n && strncmp(path, name, n) == 0 && (path[n] == '.' || path[n] == '\0'))
		path += n + (path[n] == '.');
	*e = (struct pd_error){ .code = w->pack_error.code, .severity = PD_FATAL,
				.record_type = type, .record = name,
				.field = path[0] ? path : NULL, .text = w->pack_error.text };
	return -1;
}

/* Reports values of ours that can't be packed: a name or a list of ids is too long. pack_error is
 * for the caller's values. */
static int fail_own_values(enum pd_code code, const char *name, struct pd_error *e)
{
	*e = (struct pd_error){ .code = code, .severity = PD_FATAL, .record = name,
				.text = "the names or ids of the events are too long for it" };
	return -1;
}

/* Returns 0 for an errno of 0. */
static int check_io(int failed, struct pd_error *e)
{
	return failed ? fail(e, PD_E_IO, (uint64_t)failed) : 0;
}

/* The header is not passed on. */
static void notify_watch(void *writer, struct pd_bytes bytes)
{
	const struct pd_writer *w = writer;

	if (w->options.watch && w->watching)
		w->options.watch(w->options.ctx, bytes);
}

/* Flushes the compressor first, to keep the order. */
static int append_uncompressed(struct pd_writer *w, const void *p, size_t n)
{
	int failed;

	if (w->async)
		return pd_async_writer_copy(w->async, (struct pd_bytes){ p, n });
	notify_watch(w, (struct pd_bytes){ p, n });
	failed = w->compressor ? pd_compressor_flush(w->compressor, &w->out) : 0;
	return failed ? failed : pd_out_append(&w->out, p, n);
}

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
	struct pd_writer *w = calloc(1, sizeof(*w));

	fail(e, PD_E_NOMEM, 0);
	if (!w)
		return NULL;
	if (o)
		memcpy(&w->options, o, o->size < sizeof(w->options) ? o->size : sizeof(w->options));
	w->budget.limit = MEMORY_LIMIT;
	w->scratch.budget = w->session.budget = &w->budget;
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		w->features[i].bytes.budget = &w->budget;
	if (w->options.mode > PD_MODE_DIRECTORY) {
		fail_argument(e, "the mode is invalid");
		goto out;
	}
	if (pd_out_init(&w->out, fd) || pd_session_init(&w->session, &w->budget, PD_SWAP_NO))
		goto out;
	if (w->options.compress) {
		w->compressor = pd_compressor_new(w->options.compress, PD_AS_COMPRESSED,
						  PD_SWAP_NO);
		if (!w->compressor) {
			fail_argument(e, "the compression level is not supported");
			goto out;
		}
	}
	if (w->options.mode == PD_MODE_FILE && lseek(fd, 0, SEEK_SET) < 0) {
		fail(e, PD_E_IO, (uint64_t)errno);
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

	if (w->stage != ADDING_EVENTS)
		return fail_argument(e, "events must be added before pd_writer_begin()");
	if (attr_size < PD_ATTR_SIZE_VER0 || attr_size > UINT16_MAX - PD_SECTION_SIZE)
		return fail_argument(e, "no perf_event_attr has this size");
	a = pd_session_add_attr(&w->session, (struct pd_bytes){ attr, attr_size });
	if (!a)
		return fail(e, PD_E_NOMEM, 0);
	for (size_t i = 0; i < nr_ids; i++)
		if (pd_session_add_id(&w->session, a, ids[i]) < 0)
			return fail(e, PD_E_NOMEM, 0);
	if (name)
		pd_session_rename(&w->session, a,
				  (struct pd_bytes){ (const uint8_t *)name, strlen(name) });
	if (attr_size + PD_SECTION_SIZE > w->header.attr_size)
		w->header.attr_size = attr_size + PD_SECTION_SIZE;
	return 0;
}

static const char *record_name(uint32_t type)
{
	const struct pd_record_desc *d = pd_record_desc(type);

	return d ? d->name : NULL;
}

/* Composes into the scratch buffer. */
static int compose_record(struct pd_writer *w, const struct pd_compose_record *r,
			  const struct pd_value *fields, size_t n, struct pd_pack_error *p)
{
	const struct pd_value object = PD_OBJECT(NULL, fields, n);

	w->scratch.size = 0;
	return pd_compose_record(&w->session, &pd_value_values, r, &object, &w->scratch, p);
}

/* Writes a record that the caller has not asked for. */
static int write_own_record(struct pd_writer *w, uint32_t type, const struct pd_value *fields,
			    size_t n, struct pd_error *e)
{
	const struct pd_compose_record r = { .type = type, .size = PD_SIZE_OPEN,
		.cut = PD_SIZE_OPEN };
	struct pd_pack_error p;

	if (compose_record(w, &r, fields, n, &p))
		return fail_own_values(p.code, record_name(type), e);
	return check_io(append_uncompressed(w, w->scratch.data, w->scratch.size), e);
}

/* Composes EVENT_DESC from the events. */
static int compose_event_desc(struct pd_writer *w, struct pd_buf *out, struct pd_error *e)
{
	const struct pd_session *s = &w->session;
	struct pd_value *events = calloc(s->nr_attrs + 1, sizeof(*events));
	struct pd_value (*fields)[4] = calloc(s->nr_attrs + 1, sizeof(*fields));
	struct pd_value desc[3], feature;
	const struct pd_value object = PD_OBJECT(NULL, &feature, 1);
	struct pd_pack_error p;
	int failed = -1;

	fail(e, PD_E_NOMEM, 0);
	if (!events || !fields)
		goto out;
	for (size_t i = 0; i < s->nr_attrs; i++) {
		const struct pd_attr *a = s->attrs[i];

		fields[i][0] = (struct pd_value)PD_BYTES("attr", a->bytes.data, a->bytes.size);
		fields[i][1] = (struct pd_value)PD_NUMBER("nr_ids", a->nr_ids);
		fields[i][2] = (struct pd_value)PD_TEXT("name", a->name);
		fields[i][3] = (struct pd_value)PD_NUMBERS("ids", a->ids, a->nr_ids);
		events[i] = (struct pd_value)PD_OBJECT(NULL, fields[i], 4);
	}
	desc[0] = (struct pd_value)PD_NUMBER("nr", s->nr_attrs);
	desc[1] = (struct pd_value)PD_NUMBER("attr_size", w->header.attr_size - PD_SECTION_SIZE);
	desc[2] = (struct pd_value)PD_ARRAY("events", events, s->nr_attrs);
	feature = (struct pd_value)PD_OBJECT("EVENT_DESC", desc, 3);
	if (pd_compose_feature(&w->session, &pd_value_values, "EVENT_DESC", &object, PD_PREFER_RAW,
			       out, &p))
		fail_own_values(p.code, "EVENT_DESC", e);
	else
		failed = 0;
out:
	free(events);
	free(fields);
	return failed;
}

/* In a pipe the formats are the payload of a record, padded to 8 bytes. */
static int write_tracing_data(struct pd_writer *w, struct pd_bytes section, struct pd_error *e)
{
	const size_t padded = (section.size + 7) & ~(size_t)7;
	const struct pd_value values[] = { PD_NUMBER("data_size", padded) };

	if (write_own_record(w, PD_RECORD_HEADER_TRACING_DATA, values, 1, e) ||
	    check_io(append_uncompressed(w, section.data, section.size), e))
		return -1;
	return check_io(append_uncompressed(w, (const uint8_t[8]){ 0 }, padded - section.size), e);
}

static int store_feature(struct pd_writer *w, uint32_t id, struct pd_bytes section,
			 struct pd_error *e)
{
	const struct pd_value values[] = { PD_NUMBER("feat_id", id),
		PD_BYTES("feature", section.data, section.size) };

	if (w->options.mode == PD_MODE_PIPE) {
		if (id == PD_FEATURE_TRACING_DATA)
			return write_tracing_data(w, section, e);
		if (pd_feature_not_in_pipe(id))
			return 0;
		w->features[id].left_out = !pd_feature_fits_record(section.size);
		return w->features[id].left_out ? 0 :
			write_own_record(w, PD_RECORD_HEADER_FEATURE, values, 2, e);
	}
	w->features[id].given = true;
	w->features[id].bytes.size = 0;
	pd_buf_append(&w->features[id].bytes, section.data, section.size);
	return w->features[id].bytes.failed ? fail(e, PD_E_NOMEM, 0) : 0;
}

static int encode_feature(struct pd_writer *w, uint32_t id, const struct pd_value *value,
			  struct pd_error *e)
{
	const struct pd_feature_desc *d = pd_feature_desc(id);
	struct pd_value named = *value;
	const struct pd_value object = PD_OBJECT(NULL, &named, 1);
	struct pd_buf bytes = { .budget = &w->budget };
	struct pd_pack_error p;
	int failed;

	if (!d)
		return fail_argument(e,
				     "the layout of this feature is unknown: use "
				     "pd_writer_feature_bytes()");
	named.name = d->field->name;
	failed = pd_compose_feature(&w->session, &pd_value_values, named.name, &object,
				    PD_PREFER_RAW, &bytes, &p);
	if (failed) {
		failed = fail_pack(w, named.name, 0, &p, e);
	} else {
		pd_session_update_feature(&w->session, id, pd_buf_bytes(&bytes), 0);
		failed = store_feature(w, id, pd_buf_bytes(&bytes), e);
	}
	pd_buf_free(&bytes);
	return failed;
}

const char *pd_writer_feature_left_out(const struct pd_writer *w, size_t i)
{
	return pd_feature_left_out(w->features, i);
}

static int encode_compressed_feature(struct pd_writer *w, struct pd_error *e)
{
	uint64_t in, out;
	struct pd_value values[5], feature = PD_OBJECT("COMPRESSED", values, 5);

	if (!w->compressor || w->features[PD_FEATURE_COMPRESSED].given)
		return 0;
	pd_compressor_sizes(w->compressor, &in, &out);
	values[0] = (struct pd_value)PD_NUMBER("version", 0);
	values[1] = (struct pd_value)PD_NUMBER("type", ZSTD);
	values[2] = (struct pd_value)PD_NUMBER("level", w->options.compress);
	values[3] = (struct pd_value)PD_NUMBER("ratio", out ? in / out : 0);
	values[4] = (struct pd_value)PD_NUMBER("mmap_len", 2 * PD_COMPRESSED_MOST);
	return encode_feature(w, PD_FEATURE_COMPRESSED, &feature, e);
}

static int begin_pipe(struct pd_writer *w, struct pd_error *e)
{
	const struct pd_session *s = &w->session;
	struct pd_buf desc = { .budget = &w->budget };
	int failed;

	w->scratch.size = 0;
	if (pd_compose_pipe_header(&w->session, &w->scratch))
		return fail(e, PD_E_NOMEM, 0);
	append_uncompressed(w, w->scratch.data, w->scratch.size);
	for (size_t i = 0; i < s->nr_attrs; i++) {
		const struct pd_attr *a = s->attrs[i];
		const struct pd_value values[] = {
			PD_BYTES("attr", a->bytes.data, a->bytes.size), PD_NUMBERS("ids", a->ids,
										   a->nr_ids) };

		if (write_own_record(w, PD_RECORD_HEADER_ATTR, values, 2, e))
			return -1;
	}
	for (size_t i = 0; i < s->nr_attrs; i++) {
		const struct pd_attr *a = s->attrs[i];
		const struct pd_value values[] = { PD_NUMBER("update_type", UPDATE_NAME),
			PD_NUMBER("id", a->nr_ids ? a->ids[0] : 0), PD_TEXT("name", a->name) };

		if (a->nr_ids && a->name_from == PD_NAME_FROM_FILE &&
		    write_own_record(w, PD_RECORD_EVENT_UPDATE, values, 3, e))
			return -1;
	}
	failed = compose_event_desc(w, &desc, e) ||
		 store_feature(w, PD_FEATURE_EVENT_DESC, pd_buf_bytes(&desc), e) ||
			 encode_compressed_feature(w, e);
	pd_buf_free(&desc);
	return failed ? -1 : check_io(w->out.failed, e);
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
			return fail(e, PD_E_NOMEM, 0);
		ids_at += a->nr_ids * sizeof(uint64_t);
	}
	if (b->failed)
		return fail(e, PD_E_NOMEM, 0);
	pd_out_append(&w->out, b->data, b->size);
	return check_io(pd_out_flush(&w->out), e);
}

/* Without a thread the caller compresses and writes itself. */
static void start_async_writer(struct pd_writer *w)
{
	const struct pd_async_writer_work work = {
		.out = &w->out, .compressor = w->compressor, .flushed = update_data_size,
		.watch = notify_watch, .ctx = w };
	const enum pd_write_by by = w->options.by;

	if (by == PD_WRITE_BY_THREAD || (by == PD_WRITE_BY_EITHER && w->compressor))
		w->async = pd_async_writer_new(&work);
}

/* Makes the caller the owner of out and compressor again. */
static int end_async_writer(struct pd_writer *w)
{
	int failed = w->async ? pd_async_writer_wait(w->async) : 0;

	pd_async_writer_free(w->async);
	w->async = NULL;
	return failed || !w->compressor ? failed : pd_compressor_flush(w->compressor, &w->out);
}

int pd_writer_begin(struct pd_writer *w, struct pd_error *e)
{
	if (w->stage != ADDING_EVENTS)
		return fail_argument(e, "pd_writer_begin() was already called");
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
	notify_watch(w, records);
	return w->compressor ? pd_compressor_write(w->compressor, records, &w->out) :
	       pd_out_append(&w->out, records.data, records.size);
}

int pd_writer_write(struct pd_writer *w, const struct pd_bytes *spans, size_t n, struct pd_error *e)
{
	int failed = 0;

	if (require_recording(w, e))
		return -1;
	for (size_t i = 0; i < n && !failed; i++)
		failed = append_records(w, spans[i]);
	return check_io(failed, e);
}

int pd_writer_lend(struct pd_writer *w, const struct pd_bytes *spans, size_t n,
		   const struct pd_lender *from, struct pd_error *e)
{
	int failed = 0;

	if (require_recording(w, e))
		return -1;
	for (size_t i = 0; i < n && !failed; i++) {
		if (w->async && w->compressor) {
			failed = pd_async_writer_lend(w->async, spans[i], from);
			continue;
		}
		failed = append_records(w, spans[i]);
		if (!failed)
			from->give_back(from->owner, spans[i].size);
	}
	return check_io(failed, e);
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

	fail_argument(e, NULL);
	e->record_type = r->type;
	e->record = record_name(r->type);
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

	if (require_recording(w, e) || apply_event(w, &r, event, &object, e))
		return -1;
	if (compose_record(w, &r, fields, n, &p))
		return fail_pack(w, record_name(type), type, &p, e);
	if (check_io(append_uncompressed(w, w->scratch.data, w->scratch.size), e))
		return -1;
	return payload.size ? check_io(append_uncompressed(w, payload.data, payload.size), e) : 0;
}

/* A file's features may be given early: they are kept until its end. */
static int check_feature_allowed(const struct pd_writer *w, struct pd_error *e)
{
	if (w->options.mode == PD_MODE_DIRECTORY)
		return fail_argument(e,
				     "a data.N has no features: they belong into the file `data` "
				     "of its directory");
	return w->stage == ADDING_EVENTS && w->options.mode == PD_MODE_FILE ? 0 :
		require_recording(w, e);
}

int pd_writer_feature_bytes(struct pd_writer *w, uint32_t id, struct pd_bytes section,
			    struct pd_error *e)
{
	if (check_feature_allowed(w, e))
		return -1;
	return id < PD_FEATURE_BITS ? store_feature(w, id, section, e) :
		fail_argument(e, "no feature has this id");
}

int pd_writer_feature(struct pd_writer *w, uint32_t id, const struct pd_value *value,
		      struct pd_error *e)
{
	return check_feature_allowed(w, e) ? -1 : encode_feature(w, id, value, e);
}

int pd_writer_flush_soon(struct pd_writer *w, struct pd_error *e)
{
	int failed;

	if (w->stage == ENDED)
		return require_recording(w, e);
	if (w->async)
		return check_io(pd_async_writer_flush(w->async), e);
	failed = w->compressor ? pd_compressor_flush(w->compressor, &w->out) : 0;
	if (!failed)
		failed = pd_out_flush(&w->out);
	return check_io(failed || w->stage == ADDING_EVENTS ? failed : update_data_size(w, &w->out),
			e);
}

int pd_writer_flush(struct pd_writer *w, struct pd_error *e)
{
	if (pd_writer_flush_soon(w, e))
		return -1;
	return w->async ? check_io(pd_async_writer_wait(w->async), e) : 0;
}

uint64_t pd_writer_size(const struct pd_writer *w)
{
	return w->async ? pd_async_writer_size(w->async) : w->out.offset;
}

/* Writes the feature table and the sections it points to. */
static int write_features(struct pd_writer *w, struct pd_error *e)
{
	uint64_t at = w->out.offset;

	w->scratch.size = 0;
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		if (w->features[i].given)
			at += PD_SECTION_SIZE;
	for (size_t i = 0; i < PD_FEATURE_BITS; i++) {
		if (!w->features[i].given)
			continue;
		w->header.features[i] = true;
		if (pd_compose_section(&w->session, at, w->features[i].bytes.size, &w->scratch))
			return fail(e, PD_E_NOMEM, 0);
		at += w->features[i].bytes.size;
	}
	pd_out_append(&w->out, w->scratch.data, w->scratch.size);
	for (size_t i = 0; i < PD_FEATURE_BITS; i++)
		pd_out_append(&w->out, w->features[i].bytes.data, w->features[i].bytes.size);
	return check_io(pd_out_flush(&w->out), e);
}

static int write_header(struct pd_writer *w, struct pd_error *e)
{
	w->scratch.size = 0;
	if (pd_compose_header(&w->session, &w->header, &w->scratch))
		return fail(e, PD_E_NOMEM, 0);
	return check_io(pd_out_at(&w->out, 0, w->scratch.data, w->scratch.size), e);
}

int pd_writer_finish(struct pd_writer *w, struct pd_error *e)
{
	if (require_recording(w, e))
		return -1;
	w->stage = ENDED;
	if (check_io(end_async_writer(w), e))
		return -1;
	if (w->options.mode != PD_MODE_FILE)
		return check_io(pd_out_flush(&w->out), e);
	w->header.data.size = w->out.offset - w->header.data.offset;
	if (!w->features[PD_FEATURE_EVENT_DESC].given) {
		w->features[PD_FEATURE_EVENT_DESC].given = true;
		if (compose_event_desc(w, &w->features[PD_FEATURE_EVENT_DESC].bytes, e))
			return -1;
	}
	return encode_compressed_feature(w, e) || write_features(w, e) || write_header(w, e) ? -1 :
		0;
}

/* Returns the end of the records that reached the descriptor. */
static uint64_t end_of_records(const struct pd_writer *w)
{
	const uint64_t end = w->header.data.offset + w->header.data.size;

	return w->header.data.size && end < w->out.written ? end : w->out.written;
}

int pd_writer_abort(struct pd_writer *w, uint64_t *kept, struct pd_error *e)
{
	const uint64_t begin = w->header.data.offset;
	uint64_t size;

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
		check_io(pd_out_at(&w->out, DATA_SIZE_AT, &size, sizeof(size)), e) : 0;
}
