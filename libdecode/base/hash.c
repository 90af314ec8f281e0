/* hash.c - seeds, and hashes of bytes. */
#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

/* If getrandom(2) is refused, as in a sandbox, the random bytes that the process got at its start
 * are used. */
uint64_t pd_hash_seed(const void *object)
{
	const void *bytes = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
		if (bytes)
			memcpy(&seed, bytes, sizeof(seed));
		seed = pd_hash_mix(seed, (uintptr_t)object);
	}
	return seed | 1;
}

uint64_t pd_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t word;

	hash ^= size;
	for (; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = pd_hash_mix(hash, word);
	}
	word = 0;
	if (size)
		memcpy(&word, at, size);
	return pd_hash_mix(hash, word);
}
