/* chrome_stacks.c - sampled functions as slices of a thread.
 *
 * A sample stands for the time before it: its weight if that is a time, else the period of its
 * frequency, else all since the sample before; not for time in which the thread did not run. That
 * of a tracepoint stands for none.
 */
#include "formats/chrome.h"

#define NS_PER_S 1000000000

enum { LATE = 4 };	/* of the time between samples, the part by which one may be late */

/* Returns the time between samples, in ns, or 0 if it is not known. */
static uint64_t distance_of(const struct pp_weigher *w)
{
	return w->frequency ? NS_PER_S / w->frequency : w->is_time ? w->period : 0;
}

static uint64_t length_of(const struct pp_chrome *c, const struct pp_item *sample)
{
	const struct pp_weigher *w = &c->out->p->events[c->out->o.event].weigher;

	if (w->is_tracepoint)
		return 0;
	return w->is_time ? sample->weight : w->frequency ? distance_of(w) : UINT64_MAX;
}

uint64_t pp_chrome_stacks_first(const struct pp_profile *p, size_t event)
{
	const uint64_t first = pp_tracks_first(&p->tracks),
		       distance = distance_of(&p->events[event].weigher);

	return distance < first ? first - distance : 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns when the time begins that a sample stands for. Without a length that is the end of the
 * sample before, or nothing. Timers are late by a little: such a gap is no pause. */
static uint64_t start_of(const struct pp_chrome *c, const struct pp_item *sample, uint64_t since)
{
	const uint64_t length = length_of(c, sample), until = c->stacks->until,
		       late = distance_of(&c->out->p->events[c->out->o.event].weigher) / LATE,
		       start = length < sample->time ? sample->time - length : 0,
		       ran = later(since, later(until, c->first));

	if (length == UINT64_MAX && !since && !until)
		return sample->time;
	return until && start > ran && start - ran < late ? ran : later(start, ran);
}

bool pp_chrome_has_time(const struct pp_chrome *c, const struct pp_item *sample, uint64_t since)
{
	const uint64_t start = start_of(c, sample, since);

	return sample->time >= start && sample->time - start >= PP_CHROME_SHORTEST;
}

static struct pd_bytes name_of(const struct pp_profile *p, uint32_t function)
{
	return pp_strings_at(&p->strings, p->functions[function].name);
}

/* Ends the slices of all functions but the outermost ones. */
static void end_from(struct pp_chrome *c, const struct pp_track *t, size_t keep)
{
	struct pp_chrome_stacks *s = c->stacks;

	while (s->nr > keep)
		pp_chrome_end(c, t, name_of(c->out->p, s->open[--s->nr]), s->until);
}

/* Sets s->next to the functions of a node. Returns 0, or -1 without memory. */
static int read_stack(struct pp_chrome *c, uint32_t node)
{
	struct pp_profile *p = c->out->p;
	struct pp_chrome_stacks *s = c->stacks;
	size_t depth = 0, at;
	uint32_t *next;

	for (uint32_t i = node; i != PP_NONE; i = p->merged[i].parent)
		depth += pp_is_in_stack(p->functions[p->merged[i].function].kind);
	next = pp_memory_grow(&p->memory, s->next, &s->next_capacity, depth + 1, sizeof(*next));
	if (!next)
		return -1;
	s->next = next;
	s->nr_next = at = depth;
	for (uint32_t i = node; i != PP_NONE; i = p->merged[i].parent)
		if (pp_is_in_stack(p->functions[p->merged[i].function].kind))
			next[--at] = p->merged[i].function;
	return 0;
}

int pp_chrome_stacks_add(struct pp_chrome *c, const struct pp_track *t,
			 const struct pp_item *sample, uint64_t since)
{
	struct pp_profile *p = c->out->p;
	struct pp_chrome_stacks *s = c->stacks;
	const uint64_t start = start_of(c, sample, since);
	uint32_t *open = read_stack(c, p->places[sample->node].node) ? NULL :
		pp_memory_grow(&p->memory, s->open, &s->open_capacity, s->nr_next + 1,
			       sizeof(*open));
	size_t same = 0;

	if (!open)
		return -1;
	s->open = open;
	while (start == s->until && same < s->nr && same < s->nr_next &&
	       open[same] == s->next[same])
		same++;
	end_from(c, t, same);
	for (; s->nr < s->nr_next; s->nr++) {
		open[s->nr] = s->next[s->nr];
		pp_chrome_begin(c, t, "stack", name_of(p, open[s->nr]), start);
	}
	s->until = sample->time;
	return 0;
}

void pp_chrome_stacks_skip(struct pp_chrome *c, const struct pp_item *sample)
{
	if (!c->stacks->nr)
		c->stacks->until = sample->time;
}

void pp_chrome_stacks_end(struct pp_chrome *c, const struct pp_track *t)
{
	end_from(c, t, 0);
	c->stacks->until = 0;
}

void pp_chrome_stacks_free(struct pp_chrome *c)
{
	struct pp_chrome_stacks *s = c->stacks;

	if (!s)
		return;
	pp_memory_free(&c->out->p->memory, s->open, s->open_capacity, sizeof(*s->open));
	pp_memory_free(&c->out->p->memory, s->next, s->next_capacity, sizeof(*s->next));
}
