/* reader.c - the public reader: opens whatever holds records, and gives them out one by one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/directory.h"
#include "file/gaps.h"
#include "file/header.h"
#include "file/mend.h"
#include "file/run.h"
#include "layout/pick.h"
#include "model/order.h"
#include "pd/pd.h"
#include "reader.h"

#define DEFAULT_MEMORY (256ull << 20)
#define TYPE_HEADER_ATTR 64
#define TYPE_HEADER_TRACING_DATA 66
#define TYPE_FINISHED_ROUND 68
#define TYPE_EVENT_UPDATE 78
#define TYPE_HEADER_FEATURE 80
#define TYPE_USER 64
#define FEATURE_DIR_FORMAT 24
#define FEATURE_SAMPLE_TIME "SAMPLE_TIME"

struct pd_reader {
	struct pd_options options;
	struct pd_budget budget;
	struct pd_source *source;
	struct pd_session session;
	struct pd_container container;
	struct pd_stream stream;
	struct pd_frame read;		/* the last one read, while `order` gives out others */
	struct pd_error cut;		/* why it is cut */
	struct pd_record record;	/* the last one given out */
	struct pd_run run;		/* plain ones that come next */
	struct pd_buf held;		/* a HEADER_TRACING_DATA record with its payload */
	struct pd_buf feature;		/* the last one asked for */
	struct pd_order *order;
	bool drained;			/* order has everything; `ended` says why there is no more */
	struct pd_error ended;
	bool pipe_done;
	bool is_directory;
	struct pd_directory directory;
	size_t next_file;
	const char *file;		/* being read: NULL for data itself */
	struct pd_source *file_source;
	struct pd_error stopped;	/* what options.stop_at made of an error */
	void (*settle)(void *ctx);	/* before the session changes; may be NULL */
	void *settle_ctx;
};

const char *pd_version(void)
{
	return PD_VERSION;
}

static void report(struct pd_reader *r, const struct pd_error *e, const char *file)
{
	struct pd_error with_file = *e;

	with_file.file = file;
	if (r->options.on_error)
		r->options.on_error(r->options.ctx, &with_file);
	if (r->options.stop_at && e->severity >= r->options.stop_at && r->stopped.code == PD_OK)
		r->stopped = with_file;
}

/* Of what is being read. */
static void on_error(void *ctx, const struct pd_error *e)
{
	struct pd_reader *r = ctx;

	report(r, e, r->file);
}

static void report_packing(struct pd_reader *r, const struct pd_source *source)
{
	const struct pd_error *e = pd_source_damage(source);

	if (!e)
		return;
	if (e->code != PD_E_TRAILING)
		r->container.info.complete = false;
	on_error(r, e);
}

static struct pd_reader *new_reader(const struct pd_options *o, struct pd_error *e)
{
	struct pd_reader *r = calloc(1, sizeof(*r));

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	if (!r)
		return NULL;
	if (o)
		memcpy(&r->options, o, o->size < sizeof(r->options) ? o->size : sizeof(r->options));
	r->budget.limit = r->options.memory_limit ? r->options.memory_limit : DEFAULT_MEMORY;
	r->record.session = &r->session;
	r->session.budget = r->held.budget = r->feature.budget = &r->budget;
	return r;
}

static void report_missing(struct pd_reader *r, const char *file)
{
	r->container.info.complete = false;
	report(r, &(struct pd_error){ .code = PD_E_IO, .severity = PD_DAMAGED, .have = ENOENT }, file);
}

/* Files that others behind them, or the header, tell of. */
static void report_missing_files(struct pd_reader *r)
{
	for (size_t i = 0; i < r->directory.nr_missing; i++)
		report_missing(r, r->directory.missing[i]);
	if (!r->directory.nr_files && r->container.info.adds_features[FEATURE_DIR_FORMAT])
		report_missing(r, PD_DIRECTORY_FIRST);
}

/* The source is open: reads what comes before the records. NULL and *e on failure; the reader is freed then. */
static struct pd_reader *start(struct pd_reader *r, struct pd_error *e)
{
	const struct pd_report report = { on_error, r };
	struct pd_bytes first;

	if (pd_source_peek(r->source, PD_MAGIC_SIZE, &first, e))
		goto fail;
	if (pd_header_probe(first, &r->container)) {
		*e = (struct pd_error){ .code = PD_E_MAGIC, .severity = PD_FATAL };
		goto fail;
	}
	if (r->container.info.mode == PD_MODE_FILE &&
	    pd_mend_is_pipe(r->source, r->container.swap, r->container.info.header_size)) {
		r->container.info.mode = PD_MODE_PIPE;
		r->container.info.complete = false;
		on_error(r, &(struct pd_error){ .code = PD_E_SIZE, .severity = PD_DAMAGED, .record = "header", .offset = 8,
			.want = PD_MAGIC_SIZE, .have = r->container.info.header_size });
	}
	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	if (pd_session_init(&r->session, &r->budget, r->container.swap))
		goto fail;
	r->session.report = on_error;
	r->session.report_ctx = r;
	if (r->options.on_wait)
		pd_source_on_wait(r->source, r->options.on_wait, r->options.ctx);
	if (r->container.info.mode == PD_MODE_PIPE) {
		r->container.info.size_known = pd_source_size(r->source, &r->container.info.size);
		r->container.info.data_offset = PD_MAGIC_SIZE;
		if (pd_source_skip(r->source, PD_MAGIC_SIZE, NULL, e))
			goto fail;
	} else {
		if (pd_header_read(r->source, &r->session, &r->container, &report, e) ||
		    pd_gaps_find(r->source, &r->session, &r->container, e) ||
		    pd_source_seek(r->source, r->container.info.data_offset, e))
			goto fail;
	}
	if (r->is_directory) {
		r->container.info.mode = PD_MODE_DIRECTORY;
		report_missing_files(r);
	}
	pd_session_name_events(&r->session);
	if (r->options.order == PD_BY_TIME) {
		r->order = pd_order_new(&r->budget, r->budget.limit / 4, 0);
		if (!r->order)
			goto fail;
	}
	pd_stream_init(&r->stream, r->source, &r->session, r->container.data_end, r->options.threads);
	if (r->stopped.code) {
		*e = r->stopped;
		goto fail;
	}
	return r;
fail:
	pd_close(r);
	return NULL;
}

static struct pd_source_limits limits_of(struct pd_reader *r)
{
	return (struct pd_source_limits){ .budget = &r->budget, .map_own = r->options.access == PD_MAP_OWN };
}

struct pd_reader *pd_open_path(const char *path, const struct pd_options *o, struct pd_error *e)
{
	struct pd_reader *r = new_reader(o, e);
	struct pd_source_limits limits;
	struct stat st;

	if (!r)
		return NULL;
	limits = limits_of(r);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		r->is_directory = true;
		if (pd_directory_list(&r->directory, path)) {
			*e = (struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL, .have = (uint64_t)errno };
			pd_close(r);
			return NULL;
		}
		r->source = pd_directory_open_main(&r->directory, &limits, e);
	} else {
		r->source = pd_source_open_path(path, &limits, e);
	}
	if (!r->source) {
		pd_close(r);
		return NULL;
	}
	return start(r, e);
}

struct pd_reader *pd_open_fd(int fd, const struct pd_options *o, struct pd_error *e)
{
	struct pd_reader *r = new_reader(o, e);
	struct pd_source_limits limits;

	if (!r)
		return NULL;
	limits = limits_of(r);
	r->source = pd_source_open_fd(fd, PD_FD_BORROWED, &limits, e);
	if (!r->source) {
		pd_close(r);
		return NULL;
	}
	return start(r, e);
}

struct pd_reader *pd_open_memory(struct pd_bytes in, const struct pd_options *o, struct pd_error *e)
{
	struct pd_reader *r = new_reader(o, e);
	struct pd_source_limits limits;

	if (!r)
		return NULL;
	limits = limits_of(r);
	r->source = pd_source_open_memory(in, &limits, e);
	if (!r->source) {
		pd_close(r);
		return NULL;
	}
	return start(r, e);
}

void pd_close(struct pd_reader *r)
{
	if (!r)
		return;
	pd_order_free(r->order);
	pd_stream_free(&r->stream);
	pd_buf_free(&r->held);
	pd_buf_free(&r->feature);
	pd_header_free(&r->container, &r->session);
	pd_session_free(&r->session);
	if (r->source)
		pd_source_close(r->source);
	if (r->file_source)
		pd_source_close(r->file_source);
	pd_directory_free(&r->directory);
	free(r);
}

/* HEADER_TRACING_DATA's payload is needed to read what follows: it is held in memory with its record. */
static int hold_payload(struct pd_reader *r, struct pd_error *e)
{
	struct pd_frame *f = &r->record.frame;
	size_t size = f->bytes.size;
	struct pd_bytes piece;
	int got;

	r->held.size = 0;
	pd_buf_append(&r->held, f->bytes.data, size);
	while ((got = pd_stream_payload(&r->stream, 65536, &piece, e)) > 0)
		pd_buf_append(&r->held, piece.data, piece.size);
	if (r->held.failed) {
		r->held.failed = false;
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL, .offset = f->offset,
			.record = f->desc->name, .want = f->payload };
		return -1;
	}
	if (got < 0)
		return -1;
	f->bytes = (struct pd_bytes){ r->held.data, size };
	r->record.payload = (struct pd_bytes){ r->held.data + size, r->held.size - size };
	return 0;
}

/* Takes in what the record says about events and machine. */
static int learn(struct pd_reader *r, struct pd_error *e)
{
	const struct pd_frame *f = &r->record.frame;
	const uint32_t type = f->type;

	if (f->state != PD_FRAME_WHOLE || f->inner_offset != PD_OUTER)
		return 0;
	if (type == TYPE_HEADER_TRACING_DATA && hold_payload(r, e))
		return -1;
	if (type == TYPE_HEADER_TRACING_DATA || type == TYPE_EVENT_UPDATE || type == TYPE_HEADER_FEATURE ||
	    (type == TYPE_HEADER_ATTR && r->container.info.mode == PD_MODE_PIPE)) {
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL, .offset = f->offset };
		if (r->settle)
			r->settle(r->settle_ctx);
		return pd_session_learn_record(&r->session, type, f->bytes, r->record.payload, f->offset);
	}
	return 0;
}

/* Goes on with the next data.N of a directory: 1, or 0 when there is none. */
static int next_file(struct pd_reader *r)
{
	const struct pd_source_limits limits = limits_of(r);

	while (r->next_file < r->directory.nr_files) {
		struct pd_error e;

		r->file = r->directory.files[r->next_file++];
		if (r->settle)
			r->settle(r->settle_ctx);
		pd_stream_free(&r->stream);
		if (r->file_source)
			pd_source_close(r->file_source);
		r->file_source = pd_directory_open(&r->directory, r->file, &limits, &e);
		if (r->file_source) {
			pd_stream_init(&r->stream, r->file_source, &r->session, UINT64_MAX, r->options.threads);
			return 1;
		}
		e.severity = PD_DAMAGED;
		on_error(r, &e);
		pd_stream_init(&r->stream, r->source, &r->session, 0, 1);
	}
	return 0;
}

/* Are there plain records to give out? */
static bool has_run(struct pd_reader *r)
{
	if (r->run.next == r->run.count)
		pd_stream_run(&r->stream, &r->run);
	return r->run.next < r->run.count;
}

/* The next record in the order of the file: 1 with r->record prepared, 0, -1. */
static int next_as_written(struct pd_reader *r, struct pd_error *e)
{
	struct pd_frame *f = &r->record.frame;
	struct pd_error damage;

	r->record.payload = (struct pd_bytes){ NULL, 0 };
	if (has_run(r)) {
		r->run.file = r->file;
		pd_run_record(&r->run, &r->run.records[r->run.next++], &r->session, &r->record);
		return 1;
	}
	for (;;) {
		r->record.payload = (struct pd_bytes){ NULL, 0 };
		switch (pd_stream_next(&r->stream, f, &damage)) {
		case PD_NEXT_RECORD:
			if (f->type >= TYPE_USER && learn(r, e))
				return -1;
			break;
		case PD_NEXT_END:
			report_packing(r, r->file_source ? r->file_source : r->source);
			if (next_file(r))
				continue;
			return 0;
		case PD_NEXT_FAILED:
			*e = damage;
			return -1;
		case PD_NEXT_DAMAGE:
			r->container.info.complete = false;
			on_error(r, &damage);
			if (r->stopped.code)
				break;
			continue;
		case PD_NEXT_DAMAGED:
			r->container.info.complete = false;
			if (f->state == PD_FRAME_CUT)
				r->cut = damage;	/* the record may know which field */
			else
				on_error(r, &damage);
			break;
		}
		if (r->stopped.code) {
			*e = r->stopped;
			return -1;
		}
		r->record.file = r->file;
		if (pd_record_prepare(&r->record) == 0)
			return 1;
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL, .offset = f->offset };
		return -1;
	}
}

/* What order keeps of a record beside its bytes. */
struct kept {
	struct pd_frame frame;
	const char *file;
};

static bool wants_order(const struct pd_reader *r, uint64_t *time)
{
	return r->record.frame.type < TYPE_USER && r->record.frame.state == PD_FRAME_WHOLE &&
	       pd_record_time(&r->record, time) && *time != 0 && *time != UINT64_MAX;
}

/* Not inlined: reading as written should not pay for it. */
static __attribute__((noinline)) int next_by_time(struct pd_reader *r, struct pd_error *e)
{
	for (;;) {
		struct pd_order_item item;
		uint64_t time;
		int got = pd_order_pop(r->order, &item, e);

		if (got < 0)
			return -1;
		if (got) {
			const struct kept *kept = (const struct kept *)item.meta.data;

			r->record.payload = (struct pd_bytes){ NULL, 0 };
			r->record.frame = kept->frame;
			r->record.frame.bytes = item.record;
			r->record.file = kept->file;
			return pd_record_prepare(&r->record) ? -1 : 1;
		}
		if (r->drained) {
			*e = r->ended;
			return r->ended.code == PD_OK ? 0 : -1;
		}
		r->record.frame = r->read;
		got = next_as_written(r, e);
		r->read = r->record.frame;
		if (got <= 0) {
			r->drained = true;
			if (got < 0)
				r->ended = *e;
			pd_order_end(r->order);
			continue;
		}
		if (wants_order(r, &time)) {
			struct kept kept = { r->read, r->file };
			struct pd_bytes meta = { (const uint8_t *)&kept, sizeof(kept) };

			if (pd_order_push(r->order, time, meta, r->read.bytes, e))
				return -1;
			continue;
		}
		if (r->read.type == TYPE_FINISHED_ROUND && r->container.info.mode != PD_MODE_DIRECTORY)
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
		report(r, &e, rec->file);
	} else if (rec->error.code != PD_OK) {
		report(r, &rec->error, rec->file);
	} else {
		struct pd_error e = { .code = PD_E_TRAILING, .severity = PD_NOTE, .offset = rec->frame.offset,
			.record_type = rec->frame.type, .record = rec->frame.desc->name,
			.have = rec->body.size - rec->extent.end };

		report(r, &e, rec->file);
	}
}

/* Each record has to be consumed exactly: what its fields leave over is no damage, but never goes without a word. */
static bool is_unremarkable(const struct pd_record *r)
{
	return r->frame.state != PD_FRAME_CUT && r->error.code == PD_OK &&
	       (!r->plan || r->extent.end == r->body.size);
}

static int next(struct pd_reader *r, struct pd_error *e)
{
	int got = r->order ? next_by_time(r, e) : next_as_written(r, e);

	if (got != 1)
		return got;
	if (!is_unremarkable(&r->record))
		report_record(r);
	if (!r->stopped.code)
		return 1;
	*e = r->stopped;
	return -1;
}

int pd_next(struct pd_reader *r, const struct pd_record **out, struct pd_error *e)
{
	int got = next(r, e);

	*out = &r->record;
	if (got < 0)	/* nobody saw the end */
		r->container.info.complete = false;
	return got;
}

int pd_payload_read(struct pd_reader *r, size_t n, struct pd_bytes *out, struct pd_error *e)
{
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

bool pd_reader_is_stopped(const struct pd_reader *r)
{
	return r->stopped.code;
}

struct pd_run *pd_reader_run(struct pd_reader *r)
{
	if (r->order || r->stopped.code || !has_run(r))
		return NULL;
	r->run.file = r->file;
	return &r->run;
}

bool pd_reader_hold(struct pd_reader *r, const struct pd_run *run, struct pd_window **held)
{
	const bool has_memory = r->budget.used <= r->budget.limit / 2;

	*held = has_memory ? pd_stream_hold(&r->stream, run) : NULL;
	return has_memory;
}

const struct pd_file_info *pd_file(const struct pd_reader *r)
{
	return &r->container.info;
}

int64_t pd_read_at(struct pd_reader *r, uint64_t offset, void *p, size_t n)
{
	struct pd_error ignored;

	return pd_source_is_random(r->source) ? pd_source_pread(r->source, offset, p, n, &ignored) : -1;
}

size_t pd_nr_attrs(const struct pd_reader *r)
{
	return r->session.nr_attrs;
}

const struct pd_attr *pd_attr_at(const struct pd_reader *r, size_t i)
{
	struct pd_attr *a = i < r->session.nr_attrs ? r->session.attrs[i] : NULL;

	if (a)	/* only now is it known that somebody wants the name */
		pd_session_name_event((struct pd_session *)&r->session, a);
	return a;
}

const char *pd_attr_name(const struct pd_attr *a)
{
	return a->name ? a->name : "";
}

size_t pd_attr_index(const struct pd_attr *a)
{
	return a->index;
}

const uint64_t *pd_attr_ids(const struct pd_attr *a, size_t *n)
{
	*n = a->nr_ids;
	return a->ids;
}

void pd_attr_visit(const struct pd_reader *r, const struct pd_attr *a, const struct pd_visitor *v, void *ctx)
{
	struct pd_visitor room;

	pd_reader_visit_attr(r, a, pd_visitor_of(v, &room), ctx);
}

struct pd_bytes pd_reader_visit_attr(const struct pd_reader *r, const struct pd_attr *a, const struct pd_visitor *v,
				     void *ctx)
{
	const struct pd_session *s = &r->session;
	struct pd_extent_of extent;

	pd_measure(s->file_attr_plan, a->bytes, 0, s->swap, PD_TEXT_TO_END, &extent);
	pd_visit(s->file_attr_plan, a->bytes, 0, s->swap, &extent, v, ctx);
	return (struct pd_bytes){ a->bytes.data + extent.end, a->bytes.size - extent.end };
}

size_t pd_nr_features(const struct pd_reader *r)
{
	return r->container.nr_features;
}

int pd_feature_at(struct pd_reader *r, size_t i, struct pd_feature *out, struct pd_error *e)
{
	const struct pd_section *section;
	const struct pd_feature_desc *d;

	if (i >= r->container.nr_features) {
		*out = (struct pd_feature){ .id = 0 };
		*e = (struct pd_error){ .code = PD_E_ARGUMENT, .severity = PD_FATAL, .have = i,
					.text = "the file has fewer features" };
		return -1;
	}
	section = &r->container.features[i];
	d = pd_feature_desc(section->feature);
	*out = (struct pd_feature){ .id = section->feature, .name = d ? d->field->name : NULL, .offset = section->offset };
	*e = (struct pd_error){ .code = PD_E_SIZE, .severity = PD_DAMAGED, .offset = section->offset };
	if (r->container.left_out[section->feature] || pd_header_load(r->source, section, &r->feature, e))
		return -1;
	out->bytes = pd_buf_bytes(&r->feature);
	return 0;
}

bool pd_time_span(struct pd_reader *r, uint64_t *first, uint64_t *last)
{
	const struct pd_pick picks[] = { { FEATURE_SAMPLE_TIME, "first", first }, { FEATURE_SAMPLE_TIME, "last", last } };
	const struct pd_feature_desc *d;
	struct pd_feature f;
	struct pd_error e;
	struct pd_plan *plan;

	*first = *last = 0;
	for (size_t i = 0; i < pd_nr_features(r); i++) {
		d = pd_feature_desc(r->container.features[i].feature);
		if (!d || strcmp(d->field->name, FEATURE_SAMPLE_TIME) != 0 || pd_feature_at(r, i, &f, &e))
			continue;
		plan = pd_session_feature_plan(&r->session, d);
		if (plan)
			pd_pick(plan, f.bytes, r->session.swap, picks, 2);
	}
	return *last != 0;
}

struct pd_session *pd_reader_session(struct pd_reader *r)
{
	return &r->session;
}

void pd_reader_before_learning(struct pd_reader *r, void (*settle)(void *ctx), void *ctx)
{
	r->settle = settle;
	r->settle_ctx = ctx;
}

void pd_reader_report(struct pd_reader *r, const struct pd_error *e)
{
	on_error(r, e);
}

size_t pd_reader_files(const struct pd_reader *r, const char *const **names)
{
	*names = (const char *const *)r->directory.files;
	return r->directory.nr_files;
}
