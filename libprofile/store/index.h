/* index.h - a hash table of numbers, whose keys the caller keeps. */
#ifndef PP_INDEX_H
#define PP_INDEX_H

#include <stdbool.h>

#include "base/hash.h"
#include "store/memory.h"

struct pp_slot {
	uint32_t hash, id;	/* id + 1; 0: free */
};

/* Must be zero-initialized. */
struct pp_index {
	struct pp_slot *slots;
	size_t capacity, used;	/* the capacity is a power of 2 */
	uint64_t seed;		/* 0: no key had a hash yet */
};

static inline uint64_t pp_index_seed(struct pp_index *x)
{
	if (!x->seed)
		x->seed = pd_hash_seed(x);
	return x->seed;
}

/* Returns the hash of a key's first number, for pd_hash_mix() with others. */
static inline uint64_t pp_index_hash(struct pp_index *x, uint64_t first)
{
	return pd_hash_mix(pp_index_seed(x), first);
}

/* Returns the number of the key, or PP_NONE. */
static inline uint32_t
pp_index_find(const struct pp_index *x, uint32_t hash, const void *ctx, const void *key,
	      bool (*equal)(const void *ctx, uint32_t id, const void *key))
{
	const size_t mask = x->capacity - 1;

	if (!x->capacity)
		return PP_NONE;
	for (size_t i = hash & mask; x->slots[i].id; i = (i + 1) & mask)
		if (x->slots[i].hash == hash && equal(ctx, x->slots[i].id - 1, key))
			return x->slots[i].id - 1;
	return PP_NONE;
}

/* Adds a number whose key is not there yet. Returns 0, or -1 without memory. */
int pp_index_add(struct pp_index *x, struct pp_memory *m, uint32_t hash, uint32_t id);

void pp_index_free(struct pp_index *x, struct pp_memory *m);

#endif
