/* thin.c - fewer samples with a time, which have the weight of all. */
#include "thin.h"

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
	struct pp_item item = { 0 };

	for (size_t at = 0; pp_track_next(t, &at, &item);)
		if (item.kind == PP_ITEM_SAMPLE && !p->places[item.node].is_left_out)
			group_of(p, groups, &item)->all++;
}

/* Returns whether a sample stays; its weight is that of the group then. */
static bool stays(const struct pp_profile *p, struct group *groups, uint32_t of,
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

/* Writes the items that stay over those that were read: they need no more bytes, as the number of
 * a sum has no more digits than its parts together. */
static void thin_track(struct pp_profile *p, struct pp_track *t, struct group *groups, uint32_t of)
{
	struct pp_track thinned = { .bytes = t->bytes };
	struct pp_item item = { 0 };

	count_samples(p, t, groups);
	for (size_t at = 0; pp_track_next(t, &at, &item);)
		if (item.kind != PP_ITEM_SAMPLE || stays(p, groups, of, &item))
			pp_track_put(&thinned, &item);
	t->size = thinned.size;
	t->samples = thinned.samples;
}

int pp_thin(struct pp_profile *p, uint32_t of)
{
	struct group *groups = pp_memory_zeroed(&p->memory, p->nr_events, sizeof(*groups));

	if (!groups)
		return -1;
	for (size_t i = 0; i < p->tracks.nr; i++) {
		memset(groups, 0, p->nr_events * sizeof(*groups));
		thin_track(p, &p->tracks.items[i], groups, of);
	}
	pp_memory_free(&p->memory, groups, p->nr_events, sizeof(*groups));
	return 0;
}
