/* thin.c - fewer samples with a time, which have the weight of all. */
#include "merge/thin.h"

#include <string.h>

/* The samples of one event in a track. */
struct group {
	uint64_t all, seen;
	uint64_t weight;	/* of those that were left out since the last that stayed */
};

static struct group *group_of(const struct pp_profile *p, struct group *groups,
			      const struct pp_item *item)
{
	return &groups[p->places[item->node].event];
}

static void count_samples(const struct pp_profile *p, const struct pp_track *t,
			  struct group *groups)
{
	struct pp_track_reader r = pp_track_read(&p->tracks, t);
	struct pp_item item = { 0 };

	while (pp_track_next(&r, &item))
		if (item.kind == PP_ITEM_SAMPLE && !p->places[item.node].is_left_out)
			group_of(p, groups, &item)->all++;
}

/* Returns whether a sample stays; its weight is that of the group then. */
static bool sample_stays(const struct pp_profile *p, struct group *groups, uint32_t of,
			 struct pp_item *item)
{
	struct group *g = group_of(p, groups, item);

	if (p->places[item->node].is_left_out)
		return false;
	g->weight += item->weight;
	if (++g->seen % of && g->seen < g->all)
		return false;
	item->weight = g->weight;
	g->weight = 0;
	return true;
}

/* Writes the items that stay in place of all. */
static int thin_track(struct pp_profile *p, uint32_t track, struct group *groups, uint32_t of)
{
	struct pp_track all = pp_track_empty(&p->tracks, &p->tracks.items[track]);
	struct pp_track_reader r = pp_track_read(&p->tracks, &all);
	struct pp_item item = { 0 };
	int ret = 0;

	count_samples(p, &all, groups);
	while (!ret && pp_track_next(&r, &item))
		if (item.kind != PP_ITEM_SAMPLE || sample_stays(p, groups, of, &item))
			ret = pp_track_add(&p->tracks, track, &item);
	pp_track_free(&p->tracks, &all);
	return ret;
}

int pp_thin(struct pp_profile *p, uint32_t of)
{
	struct group *groups = pp_memory_zeroed(&p->memory, p->nr_events, sizeof(*groups));
	int ret = groups ? 0 : -1;

	for (uint32_t i = 0; i < p->tracks.nr && !ret; i++) {
		memset(groups, 0, p->nr_events * sizeof(*groups));
		ret = thin_track(p, i, groups, of);
	}
	pp_memory_free(&p->memory, groups, p->nr_events, sizeof(*groups));
	return ret;
}
