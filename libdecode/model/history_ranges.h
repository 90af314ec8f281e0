/* history_ranges.h - what is mapped now, for histories of live streams: ranges of addresses that
 * don't overlap, each with its map. A copy shares all nodes with its original, so that a fork costs
 * nothing. */
#ifndef PD_MODEL_HISTORY_RANGES_H
#define PD_MODEL_HISTORY_RANGES_H

#include "model/history.h"

/* A map that ranges refer to. */
struct pd_live_map {
	struct pd_learned_map map;
	size_t refs;
};

struct pd_mapped;

struct pd_range_pool {
	struct pd_budget *budget;
	uint64_t random;	/* state of the generator of priorities */
	bool is_full;		/* memory was missing: ranges were dropped */
};

/* All take over the references that they get, and return a new one; NULL is the empty set. Without
 * memory they drop ranges and set is_full. */

/* Maps m, from its start to `end`: ends what it overlaps. */
struct pd_mapped *pd_ranges_map(struct pd_range_pool *p, struct pd_mapped *root,
				    const struct pd_learned_map *m);
struct pd_mapped *pd_ranges_share(struct pd_mapped *n);
void pd_ranges_free(struct pd_range_pool *p, struct pd_mapped *n);

/* Returns the map at an address, or NULL. */
const struct pd_learned_map *pd_ranges_find(const struct pd_mapped *root, uint64_t addr);
/* Returns the map of a file's text below a copy at the address: see PD_LOCATION_REMAPPED; or
 * NULL. */
const struct pd_learned_map *pd_ranges_find_original(const struct pd_history *h,
						     const struct pd_mapped *root,
						     uint64_t addr);
/* Returns whether something is mapped at an address of the map. */
bool pd_ranges_overlap(const struct pd_mapped *root, const struct pd_learned_map *m);

#endif
