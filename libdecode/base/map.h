/* map.h - u64 -> pointer. Open addressing, charged to a budget; nothing is ever taken out. Each map has a random seed, so that
 * nobody can prepare keys that collide; and nothing may depend on the order of its entries. */
#ifndef PD_BASE_MAP_H
#define PD_BASE_MAP_H

#include "base/buf.h"

struct pd_map_slot;

/* Zero-initialise with a budget. */
struct pd_map {
	struct pd_budget *budget;
	struct pd_map_slot *slots;
	size_t size, used;	/* size: a power of two, or 0 */
	uint64_t seed;		/* drawn with the first entry */
};

/* 0; 1: the key was there and keeps its value; -1: no memory. value is not NULL. */
int pd_map_add(struct pd_map *m, uint64_t key, void *value);
void *pd_map_find(const struct pd_map *m, uint64_t key);
/* Visits every entry, in no order. */
void pd_map_each(const struct pd_map *m, void (*visit)(void *ctx, uint64_t key, void *value), void *ctx);
void pd_map_free(struct pd_map *m);

#endif
