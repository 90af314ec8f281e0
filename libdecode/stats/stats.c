/* stats.c - the statistics sink: counts records without formatting them. */
#include <stdlib.h>

#include "base/argument.h"
#include "base/jsonw.h"
#include "base/pretty.h"
#include "layout/container.h"
#include "reader/reader.h"
#include "sink.h"
#include "stats/account.h"
#include "stats/stats_counts.h"
#include "stream/record.h"

#define NR_CODES (PD_E_ORDER + 1)	/* the last code */

enum { BATCHES_A_CALL = 8 };

struct stats {
	struct pd_jsonw w;
	struct pd_pretty pretty;
	struct pd_stats_options options;
	struct pd_session *session;
	struct pd_stats_counts counts;
	uint64_t errors, errors_by_code[NR_CODES];
	char version[64];		/* of perf */
};

static void on_version_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	struct stats *s = ctx;
	size_t n = text.size < sizeof(s->version) ? text.size : sizeof(s->version) - 1;

	(void)f;
	memcpy(s->version, text.data, n);
	s->version[n] = '\0';
}

static void update_version(struct stats *s, struct pd_bytes section)
{
	static const struct pd_visitor v = { .size = sizeof(v), .text = on_version_text };
	const struct pd_feature_desc *d = pd_feature_desc(PD_FEATURE_VERSION);
	struct pd_plan *plan = pd_session_feature_plan(s->session, d);
	struct pd_extent_of extent;

	if (!plan || s->version[0])
		return;
	pd_measure(plan, section, 0, s->session->swap, PD_TEXT_TO_END, &extent);
	pd_visit(plan, section, 0, s->session->swap, &extent, &v, s);
}

static int begin_stats(void *state, struct pd_reader *r)
{
	struct stats *s = state;
	struct pd_feature f;
	struct pd_error e;

	s->session = pd_reader_session(r);
	for (size_t i = 0; i < pd_reader_nr_features(r); i++)
		if (pd_reader_feature_id(r, i) == PD_FEATURE_VERSION &&
		    pd_reader_feature(r, i, &f, &e) == 0)
			update_version(s, f.bytes);
	return 0;
}

/* Features of a pipe are records. */
static void on_feature(void *ctx, const struct pd_field *f, struct pd_bytes section)
{
	(void)f;
	update_version(ctx, section);
}

static void update_version_from_record(struct stats *s, const struct pd_record *r)
{
	static const struct pd_visitor v = { .size = sizeof(v), .bytes = on_feature };
	uint64_t id;

	if (r->frame.type == PD_RECORD_HEADER_FEATURE && pd_record_get_number(r, "feat_id", &id) &&
	    id == PD_FEATURE_VERSION)
		pd_record_visit(r, &v, s);
}

static int on_record(void *state, const struct pd_record *r)
{
	struct stats *s = state;

	if (r->frame.type == PD_RECORD_HEADER_FEATURE && r->frame.state != PD_FRAME_SKIPPED)
		update_version_from_record(s, r);
	return pd_stats_counts_record(&s->counts, s->options.filter, r);
}

/* Counts batches, which most records are in: they do not update the session or have errors. Not all
 * that follow, so that a caller can stop. */
static int on_batches(void *state, struct pd_reader *r)
{
	struct stats *s = state;
	struct pd_batch *batch;
	int status = 0;

	for (int i = 0; i < BATCHES_A_CALL && !status && (batch = pd_reader_batch(r)); i++)
		status = pd_stats_counts_batch(&s->counts, s->options.filter, batch, s->session);
	return status;
}

static int on_error(void *state, const struct pd_error *e)
{
	struct stats *s = state;

	if (e->severity == PD_NOTE)
		return 0;
	s->errors++;
	if (e->code == PD_E_PAYLOAD && !e->skipped)
		pd_stats_counts_payload_ends(&s->counts, e->have);
	if ((unsigned int)e->code < NR_CODES)
		s->errors_by_code[e->code]++;
	return 0;
}

#define NUMBER_OF(s, name, v) PD_JSONW_NUMBER(&(s)->w, name, v)
#define STRING_OF(s, name, text) PD_JSONW_STRING(&(s)->w, name, text)

#define OBJECT_OF(s, name) (PD_JSONW_KEY(&(s)->w, name), pd_jsonw_char(&(s)->w, '{'))

static void end_object(struct stats *s)
{
	pd_jsonw_char(&s->w, '}');
}

static void write_file(struct stats *s, struct pd_reader *r)
{
	static const char *const modes[] = { "file", "pipe", "directory" };
	const struct pd_file_info *f = pd_reader_file(r);

	OBJECT_OF(s, "file");
	STRING_OF(s, "mode", modes[f->mode]);
	STRING_OF(s, "byte_order", f->byte_order == PD_BIG_ENDIAN ? "big" : "little");
	if (f->size_known)
		NUMBER_OF(s, "size", f->size);
	if (f->mode != PD_MODE_PIPE) {
		NUMBER_OF(s, "data_offset", f->data_offset);
		NUMBER_OF(s, "data_size", f->data_size);
	}
	PD_JSONW_KEY(&s->w, "complete");
	pd_jsonw_raw(&s->w, f->complete ? "true" : "false", f->complete ? 4 : 5);
	if (s->version[0])
		STRING_OF(s, "perf_version", s->version);
	end_object(s);
}

static void write_count(struct stats *s, const struct pd_record_count *c)
{
	NUMBER_OF(s, "records", c->records);
	NUMBER_OF(s, "bytes", c->bytes);
}

static void write_total(struct stats *s)
{
	struct pd_record_count all = s->counts.unknown;

	for (size_t i = 0; i < PD_STATS_COUNTS_TYPES; i++)
		pd_record_count_add(&all, &s->counts.by_type[i]);
	for (size_t i = 0; i < PD_STATS_COUNTS_HIGH; i++)
		pd_record_count_add(&all, &s->counts.high[i].all);
	write_count(s, &all);
}

static void write_type_count(struct stats *s, const char *name, const struct pd_record_count *c)
{
	if (!c->records)
		return;
	pd_jsonw_comma(&s->w);
	pd_jsonw_string(&s->w, name);
	pd_jsonw_raw(&s->w, ":{", 2);
	write_count(s, c);
	end_object(s);
}

static void write_by_type(struct stats *s)
{
	OBJECT_OF(s, "by_type");
	for (uint32_t type = 0; type < PD_STATS_COUNTS_TYPES; type++)
		if (s->counts.by_type[type].records)
			write_type_count(s, pd_record_desc(type)->name, &s->counts.by_type[type]);
	for (size_t i = 0; i < PD_STATS_COUNTS_HIGH && s->counts.high[i].desc; i++)
		write_type_count(s, s->counts.high[i].desc->name, &s->counts.high[i].all);
	write_type_count(s, "UNKNOWN", &s->counts.unknown);
	end_object(s);
}

static void write_by_event(struct stats *s, struct pd_reader *r)
{
	PD_JSONW_KEY(&s->w, "by_event");
	pd_jsonw_char(&s->w, '[');
	for (size_t i = 0; i < pd_reader_nr_attrs(r); i++) {
		static const struct pd_event_count none;
		const struct pd_event_count *c =
			i < s->counts.nr_events ? &s->counts.events[i] : &none;
		const uint64_t fixed = c->samples ?
			pd_attr_fixed_period(pd_reader_attr(r, i)) : 0;

		pd_jsonw_comma(&s->w);
		pd_jsonw_char(&s->w, '{');
		NUMBER_OF(s, "attr_index", i);
		STRING_OF(s, "event", pd_attr_name(pd_reader_attr(r, i)));
		write_count(s, &c->all);
		NUMBER_OF(s, "samples", c->samples);
		if (c->has_period || fixed)
			NUMBER_OF(s, "period", c->period + fixed * c->samples);
		end_object(s);
	}
	pd_jsonw_char(&s->w, ']');
}

static void write_times_and_losses(struct stats *s)
{
	const struct pd_totals *t = &s->counts.totals;

	if (t->first[0]) {
		NUMBER_OF(s, "first_time", pd_totals_first_time(t));
		NUMBER_OF(s, "last_time", pd_totals_last_time(t));
		NUMBER_OF(s, "duration", pd_totals_last_time(t) - pd_totals_first_time(t));
	}
	NUMBER_OF(s, "lost", t->lost);
	NUMBER_OF(s, "lost_samples", t->lost_samples);
	NUMBER_OF(s, "throttled", s->counts.by_type[PD_RECORD_THROTTLE].records);
	NUMBER_OF(s, "errors", s->errors);
	OBJECT_OF(s, "errors_by_code");
	for (unsigned int code = 0; code < NR_CODES; code++) {
		if (!s->errors_by_code[code])
			continue;
		pd_jsonw_comma(&s->w);
		pd_jsonw_string(&s->w, pd_code_name((enum pd_code)code));
		pd_jsonw_char(&s->w, ':');
		pd_jsonw_unsigned(&s->w, s->errors_by_code[code]);
	}
	end_object(s);
	NUMBER_OF(s, "damaged", s->counts.damaged);
	NUMBER_OF(s, "skipped", s->counts.skipped);
}

static int write_stats(void *state, struct pd_reader *r)
{
	struct stats *s = state;

	pd_jsonw_char(&s->w, '{');
	OBJECT_OF(s, "pdecode");
	NUMBER_OF(s, "format", 1);
	STRING_OF(s, "version", pd_version());
	end_object(s);
	write_file(s, r);
	write_total(s);
	if (s->options.filter)
		NUMBER_OF(s, "filtered", pd_filter_dropped(s->options.filter));
	write_by_type(s);
	write_by_event(s, r);
	write_times_and_losses(s);
	pd_account_write(&s->w, r);
	if (s->counts.compressed.records || s->counts.expanded) {
		OBJECT_OF(s, "compressed");
		NUMBER_OF(s, "records", s->counts.compressed.records);
		NUMBER_OF(s, "in", s->counts.compressed.bytes);
		NUMBER_OF(s, "out", s->counts.expanded);
		end_object(s);
	}
	end_object(s);
	pd_jsonw_char(&s->w, '\n');
	return pd_jsonw_flush(&s->w);
}

static void free_stats(void *state)
{
	struct stats *s = state;

	pd_stats_counts_free(&s->counts);
	free(s->w.buffer - 1);
	free(s);
}

struct pd_sink *pd_sink_new_stats(const struct pd_stats_options *o, struct pd_output out)
{
	static const struct pd_sink_ops ops = {
		sizeof(ops), begin_stats, on_record, on_error, write_stats, NULL, free_stats };
	struct pd_stats_options options = { .size = sizeof(options) };
	struct pd_sink *sink;
	struct stats *s;
	char *buffer;

	if (!out.write || (o && pd_options_take(&options, sizeof(options), o, o->size)) ||
	    options.layout > PD_JSON_INDENTED)
		return NULL;
	s = calloc(1, sizeof(*s));
	buffer = malloc(PD_JSONW_BUFFER + 1);
	sink = s && buffer ? pd_sink_new_batched(&ops, on_batches, s) : NULL;
	if (!sink) {
		free(s);
		free(buffer);
		return NULL;
	}
	s->options = options;
	if (s->options.layout == PD_JSON_INDENTED)
		out = pd_pretty_init(&s->pretty, out);
	pd_stats_counts_init(&s->counts);
	pd_jsonw_init(&s->w, buffer, out);
	return sink;
}
