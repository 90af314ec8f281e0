/* firefox_threads.c - the samples and markers of the threads in a file of the Firefox Profiler. */
#include <inttypes.h>
#include <string.h>

#include "formats/firefox.h"
#include "encoding/json.h"

enum { CATEGORY_OFF_CPU = 6 };

static void put_time(struct pp_firefox *c, uint64_t time)
{
	pp_firefox_ms(c, time > c->first ? time - c->first : 0);
}

enum value { STACK, TIME, WEIGHT, CPU_DELTA };

/* How long a thread ran, while its items are read. */
struct running {
	bool is_running;
	uint64_t since, sum;	/* ns, of which `sum` was not yet given to a sample */
};

static void note_item(struct running *r, const struct pp_item *item)
{
	if (r->is_running)
		r->sum += item->time - r->since;
	r->since = item->time;
	r->is_running = item->kind == PP_ITEM_SAMPLE || item->kind == PP_ITEM_RUNS;
}

static bool is_shown(const struct pp_firefox *c, const struct pp_item *item)
{
	const struct pp_place *place = &c->out->p->places[item->node];

	return item->kind == PP_ITEM_SAMPLE && !place->is_left_out &&
	       place->event == c->out->o.event;
}

static void put_value(struct pp_firefox *c, enum value which, const struct pp_item *item,
		      struct running *r)
{
	switch (which) {
	case STACK:
		if (c->stack_of[item->node])
			pp_put_number(c->out, c->stack_of[item->node] - 1, 1, ' ');
		else
			pp_put_text(c->out, "null");
		break;
	case TIME:
		put_time(c, item->time);
		break;
	case WEIGHT:
		if (c->is_time)
			pp_firefox_ms(c, item->weight);
		else
			pp_put(c->out, "1", 1);
		break;
	case CPU_DELTA:
		pp_put_number(c->out, r->sum, 1, ' ');
		r->sum = 0;
		break;
	}
}

/* Returns the number of rows. */
static size_t put_samples_column(struct pp_firefox *c, const struct pp_track *t, const char *name,
				 enum value which)
{
	struct pp_track_reader reader = pp_track_read(&c->out->p->tracks, t);
	struct pp_item item = { 0 };
	struct running r = { 0 };
	size_t nr = 0;

	pp_printf(c->out, "\"%s\":[", name);
	while (pp_track_next(&reader, &item)) {
		note_item(&r, &item);
		if (!is_shown(c, &item))
			continue;
		pp_firefox_separator(c, &nr);
		put_value(c, which, &item, &r);
	}
	pp_put_text(c->out, "],\n");
	return nr;
}

static void put_samples(struct pp_firefox *c, const struct pp_track *t)
{
	size_t nr;

	pp_put_text(c->out, "\"samples\":{");
	put_samples_column(c, t, "stack", STACK);
	put_samples_column(c, t, "time", TIME);
	if (c->out->p->tracks.has_switches)
		put_samples_column(c, t, "threadCPUDelta", CPU_DELTA);
	nr = put_samples_column(c, t, "weight", WEIGHT);
	pp_printf(c->out, "\"weightType\":\"%s\",\"length\":%zu}",
		  c->is_time ? "tracing-ms" : "samples", nr);
}

/* A marker: a sample of another event, or a time off the CPU. */
struct marker {
	uint64_t start, end;	/* ns; end 0: an instant */
	const char *name;
	const char *why;	/* NULL: of an event */
	uint32_t node;
};

typedef void put_marker_value(struct pp_firefox *c, const struct marker *m);

static bool is_off(enum pp_item_kind kind)
{
	return kind == PP_ITEM_PREEMPTED || kind == PP_ITEM_BLOCKED;
}

/* Sets *m to the marker that an item makes; `before` is the item before it. */
static bool marker_of(const struct pp_firefox *c, const struct pp_item *before,
		      const struct pp_item *item, struct marker *m)
{
	const struct pp_profile *p = c->out->p;

	if (is_off(before->kind) && !is_off(item->kind)) {
		*m = (struct marker){ before->time, item->time, "off-CPU",
				      before->kind == PP_ITEM_BLOCKED ? "blocked" : "preempted",
				      0 };
		return true;
	}
	if (item->kind != PP_ITEM_SAMPLE || p->places[item->node].is_left_out ||
	    p->places[item->node].event == c->out->o.event)
		return false;
	*m = (struct marker){ .start = item->time, .node = item->node,
			      .name = p->events[p->places[item->node].event].weigher.name };
	return true;
}

static void put_marker_name(struct pp_firefox *c, const struct marker *m)
{
	const struct pd_bytes name = { (const uint8_t *)m->name, strlen(m->name) };

	pp_printf(c->out, "%" PRIu32, pp_firefox_string(c, name));
}

static void put_marker_start(struct pp_firefox *c, const struct marker *m)
{
	put_time(c, m->start);
}

static void put_marker_end(struct pp_firefox *c, const struct marker *m)
{
	if (m->why)
		put_time(c, m->end);
	else
		pp_put_text(c->out, "null");
}

static void put_marker_phase(struct pp_firefox *c, const struct marker *m)
{
	pp_put(c->out, m->why ? "1" : "0", 1);
}

static void put_marker_category(struct pp_firefox *c, const struct marker *m)
{
	pp_printf(c->out, "%d", m->why ? CATEGORY_OFF_CPU : 0);
}

static void put_marker_data(struct pp_firefox *c, const struct marker *m)
{
	if (m->why) {
		pp_printf(c->out, "{\"type\":\"off\",\"why\":\"%s\"}", m->why);
		return;
	}
	pp_put_text(c->out, "{\"type\":\"event\"");
	if (c->stack_of[m->node]) {
		pp_put_text(c->out, ",\"cause\":{\"time\":");
		put_time(c, m->start);
		pp_printf(c->out, ",\"stack\":%" PRIu32 "}", c->stack_of[m->node] - 1);
	}
	pp_put_text(c->out, "}");
}

static size_t put_marker_column(struct pp_firefox *c, const struct pp_track *t, const char *name,
				put_marker_value *put)
{
	struct pp_track_reader r = pp_track_read(&c->out->p->tracks, t);
	struct pp_item before = { .kind = PP_ITEM_RUNS }, item = { 0 };
	struct marker m;
	size_t nr = 0;

	pp_printf(c->out, "\"%s\":[", name);
	for (; pp_track_next(&r, &item); before = item) {
		if (!marker_of(c, &before, &item, &m))
			continue;
		pp_firefox_separator(c, &nr);
		put(c, &m);
	}
	pp_put_text(c->out, "],\n");
	return nr;
}

static void put_markers(struct pp_firefox *c, const struct pp_track *t)
{
	size_t nr;

	pp_put_text(c->out, ",\n\"markers\":{");
	put_marker_column(c, t, "name", put_marker_name);
	put_marker_column(c, t, "startTime", put_marker_start);
	put_marker_column(c, t, "endTime", put_marker_end);
	put_marker_column(c, t, "phase", put_marker_phase);
	put_marker_column(c, t, "category", put_marker_category);
	nr = put_marker_column(c, t, "data", put_marker_data);
	pp_printf(c->out, "\"length\":%zu}", nr);
}

/* Processes that had the same pid one after the other are told apart by a number. */
void pp_firefox_thread(struct pp_firefox *c, const struct pp_track *t, uint32_t life)
{
	const struct pp_profile *p = c->out->p;

	pp_put_text(c->out, "{\"processType\":\"default\",\"processStartupTime\":0,"
		    "\"processShutdownTime\":null,\"registerTime\":");
	put_time(c, t->first);
	pp_put_text(c->out, ",\"unregisterTime\":null,\"pausedRanges\":[],"
		    "\"showMarkersInTimeline\":true,\"name\":");
	if (t->cpu >= 0)
		pp_printf(c->out, "\"[swapper/%" PRId32 "]\"", t->cpu);
	else
		pp_json_string(c->out, pp_strings_at(&p->strings, t->comm));
	pp_put_text(c->out, ",\"processName\":");
	pp_json_string(c->out, pp_strings_at(&p->strings, t->process));
	pp_printf(c->out, ",\"isMainThread\":%s,\"pid\":\"%" PRId32,
		  t->pid == t->tid ? "true" : "false", t->pid);
	if (t->machine_pid)
		pp_printf(c->out, "@%" PRId32, t->machine_pid);
	if (life)
		pp_printf(c->out, ".%" PRIu32, life);
	pp_printf(c->out, "\",\"tid\":%" PRId32 ",\n", t->tid);
	put_samples(c, t);
	put_markers(c, t);
	pp_put_text(c->out, "}");
}
