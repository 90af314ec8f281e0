/* hash.h - hashes of what input says, for tables. They begin with a random seed, so that input
 * cannot provoke collisions; nothing may depend on their values. */
#ifndef PD_BASE_HASH_H
#define PD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns a random number, not 0, to begin the hashes of a table with. `object` is its owner. */
uint64_t pd_hash_seed(const void *object);

/* Mixes a number into a hash: all bits into all bits (the finalizer of splitmix64). */
static inline uint64_t pd_hash_mix(uint64_t hash, uint64_t n)
{
	hash ^= n;
	hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
	hash = (hash ^ hash >> 27) * 0x94d049bb133111ebull;
	return hash ^ hash >> 31;
}

/* Mixes bytes into a hash, and how many they are. */
uint64_t pd_hash_bytes(uint64_t hash, const void *bytes, size_t size);

#endif
