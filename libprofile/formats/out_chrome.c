/* out_chrome.c - trace events for Perfetto and chrome://tracing: a timeline of threads.
 *
 * When a thread ran and why not are slices, from the kernel's switches; each sample is an instant
 * with its innermost function, and with PP_TIMELINE_STACKS slices of all its functions. Times are
 * us from the first record, or from the beginning of the first sample's slice.
 */
#include <inttypes.h>

#include "encoding/json.h"
#include "formats/chrome.h"

static void put_name(struct pp_chrome *c, const struct pp_track *t, const char *what,
		     uint32_t name)
{
	pp_printf(c->out, ",\n{\"ph\":\"M\",\"name\":\"%s\"", what);
	pp_chrome_task(c, t);
	pp_put_text(c->out, ",\"args\":{\"name\":");
	pp_json_string(c->out, pp_strings_at(&c->out->p->strings, name));
	pp_put_text(c->out, "}}");
}

static const char *state_of(enum pp_item_kind kind)
{
	return kind == PP_ITEM_PREEMPTED ? "preempted" :
	       kind == PP_ITEM_BLOCKED ? "blocked" : "running";
}

/* The state of a thread while its track is read. */
struct state {
	enum pp_item_kind kind;
	uint64_t since;		/* ns; 0: not known yet */
	bool has_begun;		/* the slice's begin is written */
};

static void begin_state(struct pp_chrome *c, const struct pp_track *t, struct state *s)
{
	if (s->has_begun || !s->since)
		return;
	pp_chrome_begin(c, t, "sched", pp_bytes(state_of(s->kind)), s->since);
	s->has_begun = true;
}

static void end_state(struct pp_chrome *c, const struct pp_track *t, struct state *s, uint64_t time)
{
	if (!s->since || time < s->since + PP_CHROME_SHORTEST)
		return;
	begin_state(c, t, s);
	pp_chrome_end(c, t, pp_bytes(state_of(s->kind)), time);
}

/* A sample is taken of a thread that runs, also where a switch was lost. */
static void change_state(struct pp_chrome *c, const struct pp_track *t, struct state *s,
			 const struct pp_item *item)
{
	const enum pp_item_kind kind = item->kind == PP_ITEM_SAMPLE ? PP_ITEM_RUNS : item->kind;

	if (s->since && kind == s->kind)
		return;
	if (c->stacks)
		pp_chrome_stacks_end(c, t);
	end_state(c, t, s, item->time);
	*s = (struct state){ .kind = kind, .since = item->time };
}

/* Returns 0, or -1 without memory. */
static int put_stack(struct pp_chrome *c, const struct pp_track *t, struct state *s,
		     const struct pp_item *item)
{
	const struct pp_place *place = &c->out->p->places[item->node];

	if (!c->stacks || item->kind != PP_ITEM_SAMPLE || place->is_left_out ||
	    place->event != c->out->o.event)
		return 0;
	if (!pp_chrome_has_time(c, item, s->since)) {
		pp_chrome_stacks_skip(c, item);
		return 0;
	}
	begin_state(c, t, s);
	return pp_chrome_stacks_add(c, t, item, s->since);
}

/* Slices begin and end in the order of time, inner ones within outer ones. Returns 0, or -1 without
 * memory. */
static int put_slices(struct pp_chrome *c, const struct pp_track *t)
{
	struct pp_track_reader r = pp_track_read(&c->out->p->tracks, t);
	struct pp_item item = { 0 };
	struct state s = { .kind = PP_ITEM_RUNS };

	while (pp_track_next(&r, &item)) {
		if (c->has_states)
			change_state(c, t, &s, &item);
		if (put_stack(c, t, &s, &item))
			return -1;
	}
	if (c->stacks)
		pp_chrome_stacks_end(c, t);
	end_state(c, t, &s, item.time);
	return 0;
}

static void put_samples(struct pp_chrome *c, const struct pp_track *t)
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
		pp_chrome_task(c, t);
		pp_put_text(c->out, ",\"ts\":");
		pp_chrome_time(c, item.time);
		pp_put_text(c->out, ",\"args\":{\"function\":");
		pp_json_string(c->out, pp_name_of(p, &p->merged[place->node]));
		pp_printf(c->out, ",\"weight\":%" PRIu64 "}}",
			  c->out->o.measure == PP_BY_PERIOD ? item.weight : 1);
	}
}

static int put_tracks(struct pp_chrome *c)
{
	const struct pp_profile *p = c->out->p;

	for (size_t i = 0; i < p->tracks.nr; i++) {
		const struct pp_track *t = &p->tracks.items[i];

		if (t->cpu < 0)
			put_name(c, t, "process_name", t->process);
		put_name(c, t, "thread_name", t->comm);
		if ((c->has_states || c->stacks) && put_slices(c, t))
			return -1;
		put_samples(c, t);
	}
	return 0;
}

/* Where waits have stacks, these say the state. */
int pp_write_chrome(struct pp_out *out)
{
	const struct pp_profile *p = out->p;
	struct pp_chrome_stacks stacks = { 0 };
	const bool has_stacks = out->o.timeline == PP_TIMELINE_STACKS;
	struct pp_chrome c = {
		.out = out, .first = has_stacks ? pp_chrome_stacks_first(p, out->o.event) :
						  pp_tracks_first(&p->tracks),
		.stacks = has_stacks ? &stacks : NULL,
		.has_states = p->tracks.has_switches &&
			      !(has_stacks && p->events[out->o.event].weigher.is_off_cpu),
	};
	int ret;

	pp_put_text(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"preport "
		    PD_VERSION "\"},\"traceEvents\":[\n"
		    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,"
		    "\"args\":{\"name\":\"swapper\"}}");
	ret = put_tracks(&c);
	pp_put_text(out, "\n]}\n");
	pp_chrome_stacks_free(&c);
	return ret;
}
