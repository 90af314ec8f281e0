/* index.h - a hash table of numbers, whose keys the caller keeps. */
#ifndef PC_INDEX_H
#define PC_INDEX_H

#include "base/buf.h"
#include "base/hash.h"

#define PC_NONE UINT32_MAX

/* Must be zero-initialized, except for the budget. */
struct pc_index {
	struct pd_budget *budget;
	struct pc_slot {
		uint32_t hash, id;	/* id + 1; 0: free */
	} *slots;
	size_t capacity, used;	/* the capacity is a power of 2, or 0 */
	uint64_t seed;		/* 0: no key had a hash yet */
};

/* Returns what the hash of a key begins with, for pd_hash_mix(). */
static inline uint64_t pc_index_seed(struct pc_index *x)
{
	if (!x->seed)
		x->seed = pd_hash_seed(x);
	return x->seed;
}

typedef bool (*pc_equal_fn)(const void *ctx, uint32_t id, const void *key);

/* Returns the number of the key, or PC_NONE. */
static inline uint32_t pc_index_find(const struct pc_index *x, uint32_t hash, pc_equal_fn equal,
				     const void *ctx, const void *key)
{
	const size_t mask = x->capacity - 1;

	if (!x->capacity)
		return PC_NONE;
	for (size_t i = hash & mask; x->slots[i].id; i = (i + 1) & mask)
		if (x->slots[i].hash == hash && equal(ctx, x->slots[i].id - 1, key))
			return x->slots[i].id - 1;
	return PC_NONE;
}

/* Marks a function that only prefetches: gcc removes its calls, unless it inlines them first. */
#define PC_FETCHES __attribute__((always_inline))

static inline PC_FETCHES void pc_index_prefetch(const struct pc_index *x, uint32_t hash)
{
	if (x->capacity)
		__builtin_prefetch(&x->slots[hash & (x->capacity - 1)]);
}

/* Returns the number that is most likely of a key with this hash, or PC_NONE. */
static inline uint32_t pc_index_first(const struct pc_index *x, uint32_t hash)
{
	const struct pc_slot *s = x->capacity ? &x->slots[hash & (x->capacity - 1)] : NULL;

	return s && s->id ? s->id - 1 : PC_NONE;
}

/* Adds a number whose key is not there yet. Returns 0, or -1 without memory. */
int pc_index_add(struct pc_index *x, uint32_t hash, uint32_t id);

/* Removes all numbers, and keeps the memory. */
void pc_index_clear(struct pc_index *x);

void pc_index_free(struct pc_index *x);

#endif
