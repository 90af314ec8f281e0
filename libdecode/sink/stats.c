/* stats.c - counts what is in a file: no record is formatted. */
#include <stdlib.h>

#include "base/jsonw.h"
#include "file/record.h"
#include "layout/container.h"
#include "model/filter.h"
#include "reader.h"
#include "sink/pretty.h"
#include "sink/sink.h"
#include "sink/tally.h"

#define OWN_MEMORY (64u << 20)
#define NR_TYPES 128		/* above them are a few of Android's, and what nobody knows */
#define NR_HIGH 16
#define NR_CODES (PD_E_ARGUMENT + 1)
#define TYPE_THROTTLE 5
#define FEATURE_VERSION 5

struct count {
	uint64_t records, bytes;
};

struct high_count {
	const struct pd_record_desc *desc;
	struct count all;
};

struct event_count {
	struct count all;
	uint64_t samples, period;
	bool has_period;
};

struct stats {
	struct pd_jsonw w;
	struct pd_pretty pretty;
	struct pd_stats_options options;
	struct pd_session *session;
	struct pd_budget own;
	struct count by_type[NR_TYPES], unknown;
	struct high_count high[NR_HIGH];
	struct event_count *events;	/* by index */
	size_t nr_events;
	struct pd_tally tally;
	struct count compressed;	/* bytes: before */
	uint64_t expanded;		/* bytes after */
	uint64_t errors, errors_by_code[NR_CODES], damaged, skipped;
	char version[64];		/* of perf */
};

static void version_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	struct stats *s = ctx;
	size_t n = text.size < sizeof(s->version) ? text.size : sizeof(s->version) - 1;

	(void)f;
	memcpy(s->version, text.data, n);
	s->version[n] = '\0';
}

static void learn_version(struct stats *s, struct pd_bytes section)
{
	static const struct pd_visitor v = { .size = sizeof(v), .text = version_text };
	struct pd_plan *plan = pd_session_feature_plan(s->session, pd_feature_desc(FEATURE_VERSION));
	struct pd_extent_of extent;

	if (!plan || s->version[0])
		return;
	pd_measure(plan, section, 0, s->session->swap, PD_TEXT_TO_END, &extent);
	pd_visit(plan, section, 0, s->session->swap, &extent, &v, s);
}

static int begin(void *state, struct pd_reader *r)
{
	struct stats *s = state;
	struct pd_feature f;
	struct pd_error e;

	s->session = pd_reader_session(r);
	for (size_t i = 0; i < pd_nr_features(r); i++)
		if (pd_feature_at(r, i, &f, &e) == 0 && f.id == FEATURE_VERSION)
			learn_version(s, f.bytes);
	return 0;
}

/* In a pipe. */
static void version_record(void *ctx, const struct pd_field *f, struct pd_bytes section)
{
	(void)f;
	learn_version(ctx, section);
}

static void learn_record(struct stats *s, const struct pd_record *r)
{
	static const struct pd_visitor v = { .size = sizeof(v), .bytes = version_record };
	uint64_t id;

	if (r->frame.type == PD_TYPE_HEADER_FEATURE && pd_get_number(r, "feat_id", &id) &&
	    id == FEATURE_VERSION)
		pd_record_visit(r, &v, s);
}

static void add(struct count *c, uint64_t bytes)
{
	c->records++;
	c->bytes += bytes;
}

static void sum(struct count *c, const struct count *more)
{
	c->records += more->records;
	c->bytes += more->bytes;
}

static struct count *count_of_type(struct stats *s, const struct pd_record *r)
{
	const struct pd_record_desc *d = r->frame.desc;

	if (d && r->frame.type < NR_TYPES)
		return &s->by_type[r->frame.type];
	for (size_t i = 0; d && i < NR_HIGH; i++) {
		if (!s->high[i].desc)
			s->high[i].desc = d;
		if (s->high[i].desc == d)
			return &s->high[i].all;
	}
	return &s->unknown;
}

/* NULL: no memory. */
static struct event_count *count_of_event(struct stats *s, const struct pd_attr *a)
{
	const size_t bigger = a->index + 16;
	struct event_count *c;

	if (a->index < s->nr_events)
		return &s->events[a->index];
	c = pd_budget_grow(&s->own, s->events, s->nr_events * sizeof(*c), bigger * sizeof(*c));
	if (!c)
		return NULL;
	s->events = c;
	s->nr_events = bigger;
	return &s->events[a->index];
}

static int count_event(struct stats *s, const struct pd_record *r, uint64_t bytes)
{
	struct event_count *c = count_of_event(s, r->attr);
	uint64_t period;

	if (!c)
		return -1;
	add(&c->all, bytes);
	if (r->frame.type != PD_TYPE_SAMPLE)
		return 0;
	c->samples++;
	if (pd_record_number(r, PD_OF_BODY, PD_USUAL_PERIOD, &period)) {
		c->period += period;
		c->has_period = true;
	}
	return 0;
}

static void count_compressed(struct stats *s, const struct pd_record *r, uint64_t bytes)
{
	if (r->frame.inner_offset != PD_OUTER)
		s->expanded += bytes;
	else if (r->frame.desc && r->frame.desc->compressed)
		add(&s->compressed, bytes);
}

static int record(void *state, const struct pd_record *r)
{
	struct stats *s = state;
	const uint32_t type = r->frame.type;
	const uint64_t bytes = r->frame.bytes.size + r->frame.payload;
	int kept = s->options.filter ? pd_filter_keeps(s->options.filter, r) : 1;

	if (r->frame.state == PD_FRAME_SKIPPED) {
		s->skipped += r->frame.bytes.size;
		return 0;
	}
	if (type == PD_TYPE_HEADER_FEATURE)
		learn_record(s, r);
	if (kept <= 0)
		return kept;
	add(count_of_type(s, r), bytes);
	s->damaged += r->error.code != PD_OK || r->frame.state == PD_FRAME_CUT;
	count_compressed(s, r, bytes);
	pd_tally_record(&s->tally, r);
	return r->attr ? count_event(s, r, bytes) : 0;
}

static inline void count_plain_event(struct event_count *c, const struct pd_run *run, const struct pd_plain *p, enum pd_swap swap)
{
	uint64_t period;

	add(&c->all, p->size);
	if (p->type != PD_TYPE_SAMPLE)
		return;
	c->samples++;
	if (pd_plain_number(run, p, PD_USUAL_PERIOD, swap, &period)) {
		c->period += period;
		c->has_period = true;
	}
}

static int count_run(struct stats *s, struct pd_run *run)
{
	const enum pd_swap swap = s->session->swap;
	const bool is_inner = run->inner_offset != PD_OUTER;
	const struct pd_attr *last = NULL;
	struct event_count *event = NULL;

	for (; run->next < run->count; run->next++) {
		const struct pd_plain *p = &run->records[run->next];

		if (p->attr != last)
			event = count_of_event(s, p->attr);
		if (!event)
			return -1;
		last = p->attr;
		s->expanded += is_inner ? p->size : 0;
		add(&s->by_type[p->type], p->size);
		pd_tally_plain(&s->tally, run, p, swap);
		count_plain_event(event, run, p, swap);
	}
	return 0;
}

/* Most records: nothing to be learned from them, or said of them. */
static int runs(void *state, struct pd_reader *r)
{
	struct stats *s = state;
	struct pd_run *run;
	int status = 0;

	while (!status && (run = pd_reader_run(r))) {
		if (s->options.filter)
			status = pd_filter_run(s->options.filter, run, s->session);
		if (!status)
			status = count_run(s, run);
	}
	return status;
}

static int error(void *state, const struct pd_error *e)
{
	struct stats *s = state;

	if (e->severity == PD_NOTE)
		return 0;
	s->errors++;
	if ((unsigned int)e->code < NR_CODES)
		s->errors_by_code[e->code]++;
	return 0;
}

static void number(struct stats *s, const char *rendered, uint64_t v)
{
	pd_jsonw_key(&s->w, rendered, strlen(rendered));
	pd_jsonw_unsigned(&s->w, v);
}
#define NUMBER_OF(s, name, v) number(s, ",\"" name "\":", v)

static void string(struct stats *s, const char *rendered, const char *text)
{
	pd_jsonw_key(&s->w, rendered, strlen(rendered));
	pd_jsonw_string(&s->w, text);
}
#define STRING_OF(s, name, text) string(s, ",\"" name "\":", text)

#define OBJECT_OF(s, name) (PD_JSONW_KEY(&(s)->w, name), pd_jsonw_char(&(s)->w, '{'))

static void end_object(struct stats *s)
{
	pd_jsonw_char(&s->w, '}');
}

static void file(struct stats *s, struct pd_reader *r)
{
	static const char *const modes[] = { "file", "pipe", "directory" };
	const struct pd_file_info *f = pd_file(r);

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

static void count(struct stats *s, const struct count *c)
{
	NUMBER_OF(s, "records", c->records);
	NUMBER_OF(s, "bytes", c->bytes);
}

static void count_all(struct stats *s)
{
	struct count all = s->unknown;

	for (size_t i = 0; i < NR_TYPES; i++)
		sum(&all, &s->by_type[i]);
	for (size_t i = 0; i < NR_HIGH; i++)
		sum(&all, &s->high[i].all);
	count(s, &all);
}

static void type_count(struct stats *s, const char *name, const struct count *c)
{
	if (!c->records)
		return;
	pd_jsonw_comma(&s->w);
	pd_jsonw_string(&s->w, name);
	pd_jsonw_raw(&s->w, ":{", 2);
	count(s, c);
	end_object(s);
}

static void by_type(struct stats *s)
{
	OBJECT_OF(s, "by_type");
	for (uint32_t type = 0; type < NR_TYPES; type++)
		if (s->by_type[type].records)
			type_count(s, pd_record_desc(type)->name, &s->by_type[type]);
	for (size_t i = 0; i < NR_HIGH && s->high[i].desc; i++)
		type_count(s, s->high[i].desc->name, &s->high[i].all);
	type_count(s, "UNKNOWN", &s->unknown);
	end_object(s);
}

static void by_event(struct stats *s, struct pd_reader *r)
{
	PD_JSONW_KEY(&s->w, "by_event");
	pd_jsonw_char(&s->w, '[');
	for (size_t i = 0; i < pd_nr_attrs(r); i++) {
		static const struct event_count none;
		const struct event_count *c = i < s->nr_events ? &s->events[i] : &none;

		pd_jsonw_comma(&s->w);
		pd_jsonw_char(&s->w, '{');
		NUMBER_OF(s, "attr_index", i);
		STRING_OF(s, "event", pd_attr_name(pd_attr_at(r, i)));
		count(s, &c->all);
		NUMBER_OF(s, "samples", c->samples);
		if (c->has_period)
			NUMBER_OF(s, "period", c->period);
		end_object(s);
	}
	pd_jsonw_char(&s->w, ']');
}

static void losses(struct stats *s)
{
	if (s->tally.first_time) {
		NUMBER_OF(s, "first_time", s->tally.first_time);
		NUMBER_OF(s, "last_time", s->tally.last_time);
		NUMBER_OF(s, "duration", s->tally.last_time - s->tally.first_time);
	}
	NUMBER_OF(s, "lost", s->tally.lost);
	NUMBER_OF(s, "lost_samples", s->tally.lost_samples);
	NUMBER_OF(s, "throttled", s->by_type[TYPE_THROTTLE].records);
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
	NUMBER_OF(s, "damaged", s->damaged);
	NUMBER_OF(s, "skipped", s->skipped);
}

static int finish(void *state, struct pd_reader *r)
{
	struct stats *s = state;

	pd_jsonw_char(&s->w, '{');
	OBJECT_OF(s, "pdecode");
	NUMBER_OF(s, "format", 1);
	STRING_OF(s, "version", pd_version());
	end_object(s);
	file(s, r);
	count_all(s);
	if (s->options.filter)
		NUMBER_OF(s, "filtered", pd_filter_dropped(s->options.filter));
	by_type(s);
	by_event(s, r);
	losses(s);
	if (s->compressed.records || s->expanded) {
		OBJECT_OF(s, "compressed");
		NUMBER_OF(s, "records", s->compressed.records);
		NUMBER_OF(s, "in", s->compressed.bytes);
		NUMBER_OF(s, "out", s->expanded);
		end_object(s);
	}
	end_object(s);
	pd_jsonw_char(&s->w, '\n');
	return pd_jsonw_flush(&s->w);
}

static void free_stats(void *state)
{
	struct stats *s = state;

	pd_budget_free(&s->own, s->events, s->nr_events * sizeof(*s->events));
	free(s->w.buffer - 1);
	free(s);
}

struct pd_sink *pd_stats_sink(const struct pd_stats_options *o, struct pd_output out)
{
	static const struct pd_sink_ops ops = { sizeof(ops), begin, record, error, finish, NULL, free_stats, runs };
	struct stats *s = calloc(1, sizeof(*s));
	char *buffer = malloc(PD_JSONW_BUFFER + 1);
	struct pd_sink *sink = s && buffer ? pd_sink_new(&ops, s) : NULL;

	if (!sink) {
		free(s);
		free(buffer);
		return NULL;
	}
	if (o)
		memcpy(&s->options, o, o->size < sizeof(s->options) ? o->size : sizeof(s->options));
	if (s->options.layout == PD_JSON_INDENTED)
		out = pd_pretty_init(&s->pretty, out);
	s->own.limit = OWN_MEMORY;
	pd_jsonw_init(&s->w, buffer, out);
	return sink;
}
