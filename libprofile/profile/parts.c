/* parts.c - the samples of each event in each track. */
#include "profile/parts.h"

#include <stdlib.h>

/* Tracks are read that often on average before their samples are put in the order of the parts. */
enum { OFTEN = 4 };

static bool is_counted(const struct pp_profile *p, const struct pp_item *item)
{
	return item->kind == PP_ITEM_SAMPLE && !p->places[item->node].is_left_out;
}

static int compare_parts(const void *a, const void *b)
{
	const struct pp_part *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

/* `last` has the last part of each event, + 1. Returns NULL without memory. */
static struct pp_part *part_of(struct pp_parts *parts, size_t *last, uint32_t track, uint32_t event)
{
	struct pp_part *items;

	if (last[event] && parts->items[last[event] - 1].track == track)
		return &parts->items[last[event] - 1];
	items = pp_memory_grow(&parts->p->memory, parts->items, &parts->capacity, parts->nr + 1,
			       sizeof(*items));
	if (!items)
		return NULL;
	parts->items = items;
	parts->items[parts->nr++] = (struct pp_part){ .event = event, .track = track };
	last[event] = parts->nr;
	return &parts->items[parts->nr - 1];
}

/* Returns whether all samples of a track are counted, for one event. */
static bool is_simple(const struct pp_profile *p, uint32_t track)
{
	return p->nr_events == 1 && !p->leaves_out &&
	       (!p->leaves_idle || p->tracks.items[track].pid);
}

static int take_track(struct pp_parts *parts, size_t *last, uint32_t track)
{
	const struct pp_track *t = &parts->p->tracks.items[track];
	struct pp_part *part = t->samples ? part_of(parts, last, track, 0) : NULL;

	if (part) {
		part->samples = t->samples;
		part->weight = t->weights;
	}
	return part || !t->samples ? 0 : -1;
}

static int count_track(struct pp_parts *parts, size_t *last, uint32_t track)
{
	const struct pp_profile *p = parts->p;
	struct pp_track_reader r = pp_track_read(&p->tracks, &p->tracks.items[track]);
	struct pp_item item = { 0 };

	while (pp_track_next(&r, &item)) {
		struct pp_part *part;

		if (!is_counted(p, &item))
			continue;
		part = part_of(parts, last, track, p->places[item.node].event);
		if (!part)
			return -1;
		part->samples++;
		part->weight += item.weight;
	}
	return 0;
}

/* `next` has the part of each event for which samples come next, `filled` how many it has. Returns
 * the number of samples. */
static uint64_t copy_track(struct pp_parts *parts, size_t *next, uint64_t *filled, uint32_t track)
{
	const struct pp_profile *p = parts->p;
	struct pp_track_reader r = pp_track_read(&p->tracks, &p->tracks.items[track]);
	struct pp_item item = { 0 };
	uint64_t nr = 0;

	while (pp_track_next(&r, &item)) {
		uint32_t event;

		if (!is_counted(p, &item))
			continue;
		event = p->places[item.node].event;
		for (; parts->items[next[event]].track != track; next[event]++)
			filled[event] = 0;
		parts->samples[parts->items[next[event]].first + filled[event]++] = item;
		nr++;
	}
	return nr;
}

static void free_samples(struct pp_parts *parts)
{
	pp_memory_free(&parts->p->memory, parts->samples, (size_t)parts->nr_samples,
		       sizeof(*parts->samples));
	parts->samples = NULL;
}

/* Puts the samples in the order of the parts, if that leaves half of the memory: the tracks are
 * then read once for all parts. */
static void copy_samples(struct pp_parts *parts, size_t *next)
{
	struct pp_profile *p = parts->p;
	uint64_t *filled = pp_memory_zeroed(&p->memory, p->nr_events, sizeof(*filled));
	const uint64_t rest = p->memory.limit - p->memory.used;
	uint64_t nr = 0;

	if (filled && parts->nr_samples < rest / 2 / sizeof(*parts->samples))
		parts->samples = pp_memory_zeroed(&p->memory, parts->nr_samples,
						  sizeof(*parts->samples));
	for (size_t i = parts->nr; parts->samples && i--;)
		next[parts->items[i].event] = i;
	for (uint32_t i = 0; parts->samples && i < p->tracks.nr; i++)
		nr += copy_track(parts, next, filled, i);
	if (nr < parts->nr_samples)	/* the tracks' file could not be read */
		free_samples(parts);
	pp_memory_free(&p->memory, filled, p->nr_events, sizeof(*filled));
}

/* Sorts the parts, and sets where their samples are. */
static void place_parts(struct pp_parts *parts, size_t *last)
{
	const struct pp_track *tracks = parts->p->tracks.items;
	uint64_t reads = 0;

	if (parts->nr)
		qsort(parts->items, parts->nr, sizeof(*parts->items), compare_parts);
	for (size_t i = 0; i < parts->nr; i++) {
		parts->items[i].first = (size_t)parts->nr_samples;
		parts->nr_samples += parts->items[i].samples;
		reads += tracks[parts->items[i].track].nr_items;
	}
	if (reads > OFTEN * parts->nr_samples)
		copy_samples(parts, last);
}

int pp_parts_make(struct pp_parts *parts, struct pp_profile *p)
{
	size_t *last = pp_memory_zeroed(&p->memory, p->nr_events, sizeof(*last));
	int ret = last ? 0 : -1;

	parts->p = p;
	for (uint32_t i = 0; i < p->tracks.nr && !ret; i++)
		ret = is_simple(p, i) ? take_track(parts, last, i) : count_track(parts, last, i);
	if (!ret)
		place_parts(parts, last);
	pp_memory_free(&p->memory, last, p->nr_events, sizeof(*last));
	return ret;
}

void pp_parts_free(struct pp_parts *parts)
{
	if (!parts->p)
		return;
	pp_memory_free(&parts->p->memory, parts->items, parts->capacity, sizeof(*parts->items));
	free_samples(parts);
}

size_t pp_parts_of(const struct pp_parts *parts, size_t event)
{
	size_t from = 0, to = parts->nr;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (parts->items[middle].event < event)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct pp_part_reader pp_part_read(const struct pp_parts *parts, const struct pp_part *part)
{
	const struct pp_tracks *tracks = &parts->p->tracks;

	return (struct pp_part_reader){ .parts = parts, .part = part,
					.track = pp_track_read(tracks,
							       &tracks->items[part->track]) };
}

bool pp_part_next(struct pp_part_reader *r, struct pp_item *item)
{
	const struct pp_profile *p = r->parts->p;

	if (r->read == r->part->samples)
		return false;
	if (r->parts->samples) {
		*item = r->parts->samples[r->part->first + r->read++];
		return true;
	}
	while (pp_track_next(&r->track, item))
		if (is_counted(p, item) && p->places[item->node].event == r->part->event) {
			r->read++;
			return true;
		}
	return false;
}
