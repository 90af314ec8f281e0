/* profile.c - a profile from its beginning to its end, and its totals. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "pd/tree.h"
#include "profile/firsts.h"

/* Returns NULL, or why the options can't be used. */
static const char *take_options(struct pp_options *mine, const struct pp_options *o)
{
	if (!o || pd_options_take(mine, sizeof(*mine), o, o->size) ||
	    mine->keep > PP_KEEP_WHAT_FITS || mine->state > PP_WALL ||
	    mine->pmus > PP_PMUS_MERGED)
		return "an option is invalid";
	return mine->history ? NULL : "a profile needs a history";
}

struct pp_profile *pp_new(const struct pp_options *o, struct pd_error *e)
{
	struct pp_options options = { .size = sizeof(options) };
	const char *wrong = take_options(&options, o);
	struct pp_profile *p;

	if (wrong) {
		pd_refuse(e, wrong);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		if (e)
			*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
		return NULL;
	}
	p->options = options;
	p->frames.namer = p->options.namer;
	p->memory.limit = p->options.memory_limit ? p->options.memory_limit : PD_MEMORY_LIMIT;
	if (p->options.keep != PP_KEEP_SUMS) {
		p->tracks.memory.limit = p->memory.limit / 4;
		p->memory.limit -= p->tracks.memory.limit;
	}
	if (p->options.keep != PP_KEEP_SUMS)
		p->tracks.spill = pp_spill_new(p->tracks.memory.limit / 8);
	if (p->options.keep == PP_KEEP_WHAT_FITS)
		p->tracks.enough = p->tracks.memory.limit / 8;
	p->recents = calloc(1, sizeof(*p->recents));
	p->command = PP_NONE;
	p->counts.first = p->counts.last = PD_NO_TIME;
	if (p->options.state != PP_ON_CPU)
		p->time = pd_filter_take_time(p->options.filter);
	return p;
}

void pp_free(struct pp_profile *p)
{
	struct pp_memory *m;

	if (!p)
		return;
	m = &p->memory;
	pp_strings_free(&p->strings, m);
	pp_tracks_free(&p->tracks);
	pp_memory_free(m, p->steps, p->steps_capacity, sizeof(*p->steps));
	pp_memory_free(m, p->first_step, p->frames.nr + 1, sizeof(*p->first_step));
	pp_firsts_free(&p->firsts, m);
	pp_memory_free(m, p->in_time, p->tree.nr, sizeof(*p->in_time));
	pp_memory_free(m, p->places, p->tree.nr, sizeof(*p->places));
	pp_frames_free(&p->frames, m);
	pp_tree_free(&p->tree, m);
	pp_tree_free(&p->shape, m);
	pp_memory_free(m, p->events, p->events_capacity, sizeof(*p->events));
	pp_memory_free(m, p->event_of_attr, p->attrs_capacity, sizeof(*p->event_of_attr));
	pp_memory_free(m, p->threads, p->threads_capacity, sizeof(*p->threads));
	pp_index_free(&p->thread_index, m);
	pp_offcpu_free(&p->offcpu, m);
	pd_tree_free(p->switch_tree);
	pp_reads_free(&p->reads, m);
	pp_memory_free(m, p->stack, p->stack_capacity, sizeof(*p->stack));
	pp_memory_free(m, p->functions, p->functions_capacity, sizeof(*p->functions));
	pp_index_free(&p->function_index, m);
	pp_memory_free(m, p->merged, p->nr_merged, sizeof(*p->merged));
	free(p->recents);
	free(p);
}

size_t pp_nr_events(const struct pp_profile *p)
{
	return p ? p->nr_events : 0;
}

bool pp_event_at(const struct pp_profile *p, size_t i, struct pp_event *out)
{
	const struct pp_counted_event *e = p && i < p->nr_events ? &p->events[i] : NULL;

	if (!e)
		return false;
	if (!out)
		return true;
	*out = (struct pp_event){
		.name = e->weigher.name, .weight = e->weight, .samples = e->samples,
		.enabled = e->enabled, .running = e->running,
		.idle_weight = e->idle_weight, .idle_samples = e->idle_samples,
		.period = e->weigher.period, .frequency = e->weigher.frequency,
		.is_time = e->weigher.is_time, .has_no_weight = e->weigher.has_no_weight,
		.is_tracepoint = e->weigher.is_tracepoint,
	};
	return true;
}

enum pp_tracepoints { PP_WITHOUT_TRACEPOINTS, PP_WITH_TRACEPOINTS };

/* Returns the event with samples that is first in the recording: its samples may not be. */
static size_t first_event(const struct pp_profile *p, enum pp_tracepoints which)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < p->nr_events; i++)
		if (p->events[i].samples &&
		    (which == PP_WITH_TRACEPOINTS || !p->events[i].weigher.is_tracepoint) &&
		    (first == SIZE_MAX || p->events[i].attr < p->events[first].attr))
			first = i;
	return first;
}

size_t pp_main_event(const struct pp_profile *p)
{
	size_t first;

	if (!p)
		return 0;
	if (p->options.state != PP_ON_CPU)
		return p->offcpu.event;
	first = first_event(p, PP_WITHOUT_TRACEPOINTS);
	if (first == SIZE_MAX)
		first = first_event(p, PP_WITH_TRACEPOINTS);
	return first == SIZE_MAX ? 0 : first;
}

static bool is_called(const struct pp_profile *p, size_t event, const char *name)
{
	return event < p->nr_events && p->events[event].samples &&
	       strcmp(p->events[event].weigher.name, name) == 0;
}

size_t pp_event_called(const struct pp_profile *p, const char *name, size_t near)
{
	if (is_called(p, near, name))
		return near;
	for (size_t i = 0; i < p->nr_events; i++)
		if (is_called(p, i, name))
			return i;
	return SIZE_MAX;
}

size_t pp_compared_event(const struct pp_profile *older, const struct pp_profile *newer,
			 size_t event)
{
	size_t found;

	if (!older || !newer || event >= newer->nr_events)
		return pp_main_event(older);
	found = pp_event_called(older, newer->events[event].weigher.name, event);
	return found == SIZE_MAX ? pp_main_event(older) : found;
}

uint64_t pp_lost(const struct pp_profile *p)
{
	return p->counts.lost > p->lost_samples ? p->counts.lost : p->lost_samples;
}

void pp_count(const struct pp_profile *p, struct pp_counts *out)
{
	const size_t size = out ? out->size : 0;
	struct pp_counts now;

	if (!p || size < sizeof(size))
		return;
	now = p->counts;
	now.size = size;
	now.lost = pp_lost(p);
	now.threads = p->nr_threads;
	now.nodes = p->tree.nr;
	now.frames = 0;
	for (size_t i = 0; i < p->nr_merged; i++)
		now.frames += p->merged[i].total_samples > 0;
	now.lacks_memory = p->memory.refused;
	now.memory = p->memory.used + p->tracks.memory.used;
	now.approximate_waits = p->offcpu.approximate;
	now.waits = p->offcpu.waits;
	now.waits_nowhere = p->offcpu.nowhere;
	now.timer = pp_timer_of(p);
	memcpy(out, &now, size < sizeof(now) ? size : sizeof(now));
}
