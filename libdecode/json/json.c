/* json.c - the JSON sink: the document, or JSON Lines, around records, attrs and features. */
#include "base/argument.h"
#include "json/json.h"

#include <stdlib.h>

#include "json/json_workers.h"
#include "model/filter.h"
#include "sink.h"

#define OWN_MEMORY (64u << 20)
/* A document's errors are listed at its end: the list may use this share of the reader's memory. */
#define LIST_PART 4

static bool has_header(const struct pd_json *j)
{
	return j->options.parts != PD_JSON_RECORDS || j->options.shape != PD_JSON_LINES;
}

/* Checks whether events and features precede the records. A pipe's are only known at its end. */
static bool header_is_first(const struct pd_json *j)
{
	return pd_reader_file(j->reader)->mode != PD_MODE_PIPE;
}

static void open_line(struct pd_json *j, const char *kind)
{
	pd_jsonw_raw(&j->w, "{\"kind\":\"", 9);
	pd_jsonw_raw(&j->w, kind, strlen(kind));
	pd_jsonw_char(&j->w, '"');
}

static void close_line(struct pd_json *j)
{
	pd_jsonw_raw(&j->w, "}\n", 2);
}

static void write_format(struct pd_json *j)
{
	PD_JSONW_KEY(&j->w, "pdecode");
	pd_jsonw_raw(&j->w, "{\"format\":1,\"version\":", 22);
	pd_jsonw_string(&j->w, pd_version());
	pd_jsonw_char(&j->w, '}');
}

static void write_attrs(struct pd_json *j)
{
	const bool lines = j->options.shape == PD_JSON_LINES;

	if (!lines)
		pd_jsonw_raw(&j->w, ",\n\"attrs\":[", 11);
	for (size_t i = 0; i < pd_reader_nr_attrs(j->reader); i++) {
		if (lines) {
			open_line(j, "attr");
		} else {
			pd_jsonw_comma(&j->w);
			pd_jsonw_raw(&j->w, "\n{", 2);
		}
		pd_json_attr(j, pd_reader_attr(j->reader, i));
		if (lines)
			close_line(j);
		else
			pd_jsonw_char(&j->w, '}');
	}
	if (!lines)
		pd_jsonw_raw(&j->w, "]", 1);
}

static void write_feature(struct pd_json *j, uint32_t id, struct pd_bytes section)
{
	const bool lines = j->options.shape == PD_JSON_LINES;

	if (lines) {
		open_line(j, "feature");
		pd_jsonw_raw(&j->w, ",\"feature\":{", 12);
	}
	pd_json_feature(j, id, section);
	if (lines) {
		pd_jsonw_char(&j->w, '}');
		close_line(j);
	}
}

/* Writes the features of the header, and those that came as records. */
static void write_features(struct pd_json *j)
{
	const bool lines = j->options.shape == PD_JSON_LINES;

	if (!lines)
		pd_jsonw_raw(&j->w, ",\n\"features\":{", 14);
	for (size_t i = 0; i < pd_reader_nr_features(j->reader); i++) {
		struct pd_feature f;
		struct pd_error e;

		if (pd_reader_feature(j->reader, i, &f, &e) == 0)
			write_feature(j, f.id, f.bytes);
	}
	if (!lines)
		pd_jsonw_raw(&j->w, "}", 1);
	pd_reader_report_refused(j->reader);
}

static void drain_workers(void *ctx)
{
	struct pd_json *j = ctx;

	if (j->workers)
		pd_json_workers_drain(j->workers);
}

/* Writes the events and features. */
static void write_header(struct pd_json *j)
{
	if (!has_header(j))
		return;
	write_attrs(j);
	write_features(j);
}

static void write_file_line(struct pd_json *j)
{
	if (!has_header(j))
		return;
	open_line(j, "file");
	write_format(j);
	pd_json_file(j);
	close_line(j);
}

/* Charges the reader's budget for the list of errors, and leaves the reader half of the rest. The
 * charge is never returned, because the reader may be closed before the sink. */
static bool charge_list(struct pd_json *j, size_t more)
{
	struct pd_budget *b = j->session ? j->session->budget : NULL;

	if (!b)
		return true;
	if (more > b->limit / LIST_PART - j->listed || b->used > b->limit ||
	    more > (b->limit - b->used) / 2)
		return false;
	b->used += more;
	j->listed += more;
	return true;
}

static int begin_document(void *state, struct pd_reader *r)
{
	struct pd_json *j = state;
	const bool lines = j->options.shape == PD_JSON_LINES;

	j->reader = r;
	j->session = pd_reader_session(r);
	j->own.limit += j->session->budget->limit / LIST_PART;
	charge_list(j, j->errors_capacity * sizeof(*j->errors));	/* the header's errors */
	if (lines) {
		write_file_line(j);
	} else {
		pd_jsonw_char(&j->w, '{');
		write_format(j);
		pd_jsonw_raw(&j->w, ",\n\"file\":{", 10);
		pd_json_file(j);
		pd_jsonw_char(&j->w, '}');
	}
	j->begun = true;
	if (header_is_first(j))
		write_header(j);
	if (!lines)
		pd_jsonw_raw(&j->w, ",\n\"records\":[", 13);
	if (j->options.threads > 1 && j->options.parts != PD_JSON_HEADER) {
		j->workers = pd_json_workers_new(j, j->options.threads);
		pd_reader_before_update(r, drain_workers, j);
	}
	return j->w.failed;
}

/* Raw data are found to be too short when the record is already written: the error follows it. */
void pd_json_report_missing(struct pd_json *j, uint64_t offset, uint64_t want, uint64_t have,
			    const char *file)
{
	const struct pd_error e = pd_tp_shortage(offset, want, have, file);

	pd_reader_report(j->reader, &e);
}

void pd_json_write_missing(struct pd_json *j, const struct pd_record *r)
{
	const uint64_t want = r->attr->tracepoint->min_size;
	const struct pd_error e =
		pd_tp_shortage(r->frame.offset, want, j->raw_data.size, r->file);

	open_line(j, "error");
	pd_json_error(j, &e);
	close_line(j);
}

static int report_missing_fields(struct pd_json *j, const struct pd_record *r)
{
	pd_json_report_missing(j, r->frame.offset, r->attr->tracepoint->min_size,
			       j->raw_data.size, r->file);
	return j->w.failed;
}

/* Returns 1 if the filter keeps the record, which is then counted; 0; or less than 0 if the filter
 * failed. */
static int keeps(struct pd_json *j, const struct pd_record *r)
{
	const int kept = j->options.filter ? pd_filter_keeps(j->options.filter, r) : 1;

	if (kept > 0)
		pd_json_count(j, r);
	return kept;
}

static int on_record(void *state, const struct pd_record *r)
{
	struct pd_json *j = state;
	int kept;

	if (j->options.parts == PD_JSON_HEADER)
		return j->w.failed;
	kept = keeps(j, r);
	if (kept <= 0)
		return kept < 0 ? kept : j->w.failed;
	if (j->workers && pd_json_workers_can_take(r))
		return pd_json_workers_add(j->workers, r);
	if (j->workers && pd_json_workers_drain(j->workers))
		return j->w.failed;
	pd_json_write_record(j, r);
	if (j->workers)
		pd_json_workers_note_outside(j->workers);
	return j->fields_missing ? report_missing_fields(j, r) : j->w.failed;
}

int pd_json_next_batch(struct pd_json *j, struct pd_batch **batch)
{
	*batch = pd_reader_batch(j->reader);
	if (!*batch || !j->options.filter)
		return 0;
	return pd_filter_batch(j->options.filter, *batch, j->session);
}

static int write_batch(struct pd_json *j, struct pd_batch *batch)
{
	struct pd_record r;
	int status = 0;

	pd_batch_begin(batch, j->session, &r);
	while (!status && batch->next < batch->count) {
		const struct pd_simple *p = &batch->records[batch->next++];

		pd_json_count_simple(j, batch, p);
		pd_json_write_simple(j, batch, p, &r);
		status = j->w.failed;
		if (j->fields_missing) {
			status = report_missing_fields(j, &r);
			if (pd_reader_is_stopped(j->reader))
				break;
		}
	}
	return status;
}

static int write_batches(void *state, struct pd_reader *r)
{
	struct pd_json *j = state;
	struct pd_batch *batch;
	int status = 0;

	(void)r;
	if (j->options.parts == PD_JSON_HEADER)
		return 0;
	if (j->workers)
		return pd_json_workers_batches(j->workers);
	while (!status && !(status = pd_json_next_batch(j, &batch)) && batch)
		status = write_batch(j, batch);
	return status;
}

static int grow_errors(struct pd_json *j)
{
	const size_t now = j->errors_capacity * sizeof(*j->errors);
	const size_t bigger = now ? 2 * now : 16 * sizeof(*j->errors);
	struct pd_error *errors;

	if (j->nr_errors < j->errors_capacity)
		return 0;
	errors = charge_list(j, bigger - now) ?
		 pd_budget_grow(&j->own, j->errors, now, bigger) : NULL;
	if (!errors)
		return -1;
	j->errors = errors;
	j->errors_capacity = bigger / sizeof(*errors);
	return 0;
}

static int on_error(void *state, const struct pd_error *e)
{
	struct pd_json *j = state;

	if (e->severity == PD_NOTE)
		return 0;
	j->counts.errors++;
	if (j->error_is_written)
		return 0;
	if (j->workers && pd_json_workers_drain(j->workers))
		return j->w.failed;
	if (j->options.shape == PD_JSON_LINES && j->begun) {
		open_line(j, "error");
		pd_json_error(j, e);
		close_line(j);
		return j->w.failed;
	}
	if (!j->unlisted && grow_errors(j) == 0)
		j->errors[j->nr_errors++] = *e;
	else if (e->severity == PD_FATAL)	/* states why reading ended */
		j->fatal = *e;
	else
		j->unlisted++;
	return 0;
}

/* Begins and ends an object of a list after the records. */
static void open_item(struct pd_json *j, const char *kind)
{
	if (j->options.shape == PD_JSON_LINES) {
		open_line(j, kind);
		return;
	}
	pd_jsonw_comma(&j->w);
	pd_jsonw_raw(&j->w, "\n{", 2);
}

static void close_item(struct pd_json *j)
{
	if (j->options.shape == PD_JSON_LINES)
		close_line(j);
	else
		pd_jsonw_char(&j->w, '}');
}

static void write_listed_error(struct pd_json *j, const struct pd_error *e)
{
	open_item(j, "error");
	pd_json_error(j, e);
	close_item(j);
}

static void write_listed_errors(struct pd_json *j)
{
	for (size_t i = 0; i < j->nr_errors; i++)
		write_listed_error(j, &j->errors[i]);
	if (j->fatal.code)
		write_listed_error(j, &j->fatal);
	if (j->unlisted) {
		open_item(j, "error");
		pd_json_errors_left_out(j);
		close_item(j);
	}
}

/* Writes the table that frame_ids refer to. Returns 0, or -1 if entries, or frames of samples, are
 * missing. */
static int write_frame_table(struct pd_json *j)
{
	const struct pd_frame_table *t = &j->resolve.table;
	const bool lines = j->options.shape == PD_JSON_LINES;
	const struct pd_frame_entry **entries;

	if (j->options.frames != PD_JSON_FRAMES_TABLE || !j->options.history ||
	    j->options.parts == PD_JSON_HEADER)
		return t->is_cut ? -1 : 0;
	entries = pd_frame_table_sorted(t);
	if (!lines)
		pd_jsonw_raw(&j->w, ",\n\"frames\":[", 12);
	for (size_t i = 0; entries && i < t->nr; i++) {
		open_item(j, "frame");
		pd_json_table_frame(j, entries[i]);
		close_item(j);
	}
	if (!lines)
		pd_jsonw_char(&j->w, ']');
	free(entries);
	return t->is_cut || (t->nr && !entries) ? -1 : 0;
}

/* Writes what was mapped. */
static void write_images(struct pd_json *j)
{
	const bool lines = j->options.shape == PD_JSON_LINES;
	const size_t n = j->options.history ? pd_history_nr_images(j->options.history) : 0;

	if (!j->options.history || j->options.parts == PD_JSON_HEADER)
		return;
	if (!lines)
		pd_jsonw_raw(&j->w, ",\n\"images\":[", 12);
	for (size_t i = 0; i < n; i++) {
		open_item(j, "image");
		pd_json_image(j, i);
		close_item(j);
	}
	if (!lines)
		pd_jsonw_char(&j->w, ']');
}

static int finish_document(void *state, struct pd_reader *r)
{
	struct pd_json *j = state;
	int is_cut;

	(void)r;
	drain_workers(j);
	if (j->options.shape == PD_JSON_LINES) {
		if (!header_is_first(j))
			write_header(j);
		is_cut = write_frame_table(j);
		write_images(j);
		write_listed_errors(j);
		open_line(j, "summary");
		pd_json_summary(j);
		close_line(j);
		return pd_jsonw_flush(&j->w) | is_cut;
	}
	pd_jsonw_char(&j->w, ']');
	if (!header_is_first(j))
		write_header(j);
	is_cut = write_frame_table(j);
	write_images(j);
	pd_jsonw_raw(&j->w, ",\n\"errors\":[", 12);
	write_listed_errors(j);
	pd_jsonw_raw(&j->w, "],\n\"summary\":{", 14);
	pd_json_summary(j);
	pd_jsonw_raw(&j->w, "}}\n", 3);
	return pd_jsonw_flush(&j->w) | is_cut;
}

static void on_wait(void *state)
{
	struct pd_json *j = state;

	drain_workers(j);
	pd_jsonw_flush(&j->w);
}

static void free_json(void *state)
{
	struct pd_json *j = state;

	pd_json_workers_free(j->workers);
	pd_budget_free(&j->own, j->errors, j->errors_capacity * sizeof(*j->errors));
	pd_map_free(&j->counts.others);
	pd_json_resolve_free(j);
	pd_arena_free(&j->arena);
	free(j->w.buffer - 1);
	free(j);
}

struct pd_sink *pd_sink_new_json(const struct pd_json_options *o, struct pd_output out)
{
	static const struct pd_sink_ops ops = {
		sizeof(ops), begin_document, on_record, on_error, finish_document, on_wait,
		free_json };
	struct pd_json_options options = { .size = sizeof(options) };
	struct pd_sink *sink;
	struct pd_json *j;
	char *buffer;

	if (!out.write || (o && pd_options_take(&options, sizeof(options), o, o->size)) ||
	    options.shape > PD_JSON_LINES || options.blobs > PD_BLOBS_FULL ||
	    options.layout > PD_JSON_INDENTED || options.parts > PD_JSON_RECORDS ||
	    options.times > PD_JSON_CLOCK_AND_UTC || options.frames > PD_JSON_FRAMES_TABLE)
		return NULL;
	j = calloc(1, sizeof(*j));
	buffer = malloc(PD_JSONW_BUFFER + 1);
	sink = j && buffer ? pd_sink_new_batched(&ops, write_batches, j) : NULL;
	if (!sink) {
		free(j);
		free(buffer);
		return NULL;
	}
	j->options = options;
	if (j->options.history && j->options.namer)
		memcpy(&j->namer, j->options.namer,
		       j->options.namer->size < sizeof(j->namer) ? j->options.namer->size :
								   sizeof(j->namer));
	if (j->options.layout == PD_JSON_INDENTED)
		out = pd_pretty_init(&j->pretty, out);
	j->own.limit = OWN_MEMORY;
	j->arena.budget = j->counts.others.budget = &j->own;
	j->resolve.table.arena.budget = j->resolve.table.by_hash.budget = &j->own;
	pd_jsonw_init(&j->w, buffer, out);
	return sink;
}
