/* out_chrome.c - trace events for Perfetto and chrome://tracing: a timeline of threads.
 *
 * When a thread ran and why not are slices, from the kernel's switches; each sample is an instant
 * with its innermost function. Times are us from the first record.
 */
#include <inttypes.h>

#include "encoding/json.h"

#define NS_PER_US 1000
#define PID_LIMIT (1 << 22)	/* the kernel's largest pid_max */

struct encoding {
	struct pp_out *out;
	uint64_t first;		/* ns */
};

static void put_time(struct encoding *c, uint64_t time)
{
	const uint64_t ns = time > c->first ? time - c->first : 0;

	pp_printf(c->out, "%" PRIu64 ".%03" PRIu64, ns / NS_PER_US, ns % NS_PER_US);
}

/* The idle tasks are threads of process 0, by their CPU. Processes of virtual machines have numbers
 * above all pids. */
static void put_task(struct encoding *c, const struct pp_track *t)
{
	const int64_t machine = (int64_t)t->machine_pid * PID_LIMIT;

	pp_printf(c->out, ",\"pid\":%" PRId64 ",\"tid\":%" PRId32,
		  machine + (t->cpu >= 0 ? 0 : t->pid), t->cpu >= 0 ? t->cpu : t->tid);
}

static void put_name(struct encoding *c, const struct pp_track *t, const char *what,
		     uint32_t name)
{
	pp_printf(c->out, ",\n{\"ph\":\"M\",\"name\":\"%s\"", what);
	put_task(c, t);
	pp_put_text(c->out, ",\"args\":{\"name\":");
	pp_json_string(c->out, pp_strings_at(&c->out->p->strings, name));
	pp_put_text(c->out, "}}");
}

static const char *state_of(enum pp_item_kind kind)
{
	return kind == PP_ITEM_PREEMPTED ? "preempted" :
	       kind == PP_ITEM_BLOCKED ? "blocked" : "running";
}

/* An end is 1 ns before the next begin: viewers order events of one time by themselves. */
static void put_slice(struct encoding *c, const struct pp_track *t, enum pp_item_kind kind,
		      uint64_t start, uint64_t end)
{
	if (end < start + 2)
		return;
	pp_printf(c->out, ",\n{\"ph\":\"B\",\"name\":\"%s\",\"cat\":\"sched\"", state_of(kind));
	put_task(c, t);
	pp_put_text(c->out, ",\"ts\":");
	put_time(c, start);
	pp_printf(c->out, "},\n{\"ph\":\"E\",\"name\":\"%s\"", state_of(kind));
	put_task(c, t);
	pp_put_text(c->out, ",\"ts\":");
	put_time(c, end - 1);
	pp_put_text(c->out, "}");
}

static void put_slices(struct encoding *c, const struct pp_track *t)
{
	struct pp_track_reader r = pp_track_read(&c->out->p->tracks, t);
	struct pp_item item = { 0 };
	enum pp_item_kind now = PP_ITEM_RUNS;
	uint64_t since = 0;

	while (pp_track_next(&r, &item)) {
		const enum pp_item_kind kind = item.kind == PP_ITEM_SAMPLE ? PP_ITEM_RUNS :
									    item.kind;

		if (since && kind == now)
			continue;
		if (since)
			put_slice(c, t, now, since, item.time);
		now = kind;
		since = item.time;
	}
	if (since)
		put_slice(c, t, now, since, item.time);
}

static void put_samples(struct encoding *c, const struct pp_track *t)
{
	const struct pp_profile *p = c->out->p;
	struct pp_track_reader r = pp_track_read(&c->out->p->tracks, t);
	struct pp_item item = { 0 };

	while (pp_track_next(&r, &item)) {
		const struct pp_place *place = &p->places[item.node];

		if (item.kind != PP_ITEM_SAMPLE || place->is_left_out)
			continue;
		pp_put_text(c->out, ",\n{\"ph\":\"i\",\"s\":\"t\",\"name\":");
		pp_json_text(c->out, p->events[place->event].weigher.name);
		put_task(c, t);
		pp_put_text(c->out, ",\"ts\":");
		put_time(c, item.time);
		pp_put_text(c->out, ",\"args\":{\"function\":");
		pp_json_string(c->out, pp_name_of(p, &p->merged[place->node]));
		pp_printf(c->out, ",\"weight\":%" PRIu64 "}}", item.weight);
	}
}

int pp_write_chrome(struct pp_out *out)
{
	const struct pp_profile *p = out->p;
	struct encoding c = { .out = out, .first = pp_tracks_first(&p->tracks) };

	pp_put_text(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"preport "
		    PD_VERSION "\"},\"traceEvents\":[\n"
		    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,"
		    "\"args\":{\"name\":\"swapper\"}}");
	for (size_t i = 0; i < p->tracks.nr; i++) {
		const struct pp_track *t = &p->tracks.items[i];

		if (t->cpu < 0)
			put_name(&c, t, "process_name", t->process);
		put_name(&c, t, "thread_name", t->comm);
		if (p->tracks.has_switches)
			put_slices(&c, t);
		put_samples(&c, t);
	}
	pp_put_text(out, "\n]}\n");
	return 0;
}
