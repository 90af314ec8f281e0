/* map.h - a hash map from u64 to pointers: open addressing, charged to a budget, without removal.
 * Each map has a random seed, so that input cannot provoke collisions; nothing may depend on the
 * order of entries. */
#ifndef PD_BASE_MAP_H
#define PD_BASE_MAP_H

#include "base/buf.h"

struct pd_map_slot;

/* Must be zero-initialized, except for the budget. */
struct pd_map {
	struct pd_budget *budget;
	struct pd_map_slot *slots;
	size_t size, used;	/* size: a power of two, or 0 */
	uint64_t seed;		/* set with the first entry */
};

/* Adds an entry; value must not be NULL. Returns 0; 1 if the key exists: it keeps its value; -1
 * without memory. */
int pd_map_add(struct pd_map *m, uint64_t key, void *value);
/* Replaces the value of a key that is in the map. */
void pd_map_replace(struct pd_map *m, uint64_t key, void *value);
void *pd_map_find(const struct pd_map *m, uint64_t key);
/* Calls `visit` for every entry, in no particular order. */
void pd_map_each(const struct pd_map *m, void (*visit)(void *ctx, uint64_t key, void *value),
		 void *ctx);
void pd_map_free(struct pd_map *m);

#endif
