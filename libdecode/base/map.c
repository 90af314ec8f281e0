/* map.c - a hash map from u64 to pointers. */
#include "base/map.h"

#include <sys/auxv.h>
#include <sys/random.h>

#include "base/cursor.h"

struct pd_map_slot {
	uint64_t key;
	void *value;
};

/* Ids are small and dense, or pointers, so all bits are mixed into the low ones (the finalizer of
 * splitmix64). */
static inline uint64_t mix_bits(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static struct pd_map_slot *find_slot(const struct pd_map *m, uint64_t key)
{
	size_t i = mix_bits(key ^ m->seed) & (m->size - 1);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->size - 1);
	return &m->slots[i];
}

/* If getrandom(2) is refused, as in a sandbox, the random bytes that the process got at its start
 * are used. */
uint64_t pd_map_draw_seed(const void *object)
{
	const uint8_t *bytes = (const uint8_t *)(uintptr_t)getauxval(AT_RANDOM);
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		return seed;
	return mix_bits((bytes ? pd_load64(bytes, PD_SWAP_NO) : 0) ^ (uintptr_t)object);
}

static int grow_map(struct pd_map *m)
{
	struct pd_map bigger = { .budget = m->budget, .size = m->size ? m->size * 2 : 16,
		.used = m->used,
				 .seed = m->size ? m->seed : pd_map_draw_seed(m) };

	bigger.slots = pd_budget_alloc(m->budget, bigger.size * sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (size_t i = 0; i < m->size; i++)
		if (m->slots[i].value)
			*find_slot(&bigger, m->slots[i].key) = m->slots[i];
	pd_budget_free(m->budget, m->slots, m->size * sizeof(*m->slots));
	*m = bigger;
	return 0;
}

int pd_map_add(struct pd_map *m, uint64_t key, void *value)
{
	struct pd_map_slot *slot;

	if (m->used * 2 >= m->size && grow_map(m))
		return -1;
	slot = find_slot(m, key);
	if (slot->value)
		return 1;
	*slot = (struct pd_map_slot){ key, value };
	m->used++;
	return 0;
}

void *pd_map_find(const struct pd_map *m, uint64_t key)
{
	return m->size ? find_slot(m, key)->value : NULL;
}

void pd_map_each(const struct pd_map *m, void (*visit)(void *ctx, uint64_t key, void *value),
		 void *ctx)
{
	for (size_t i = 0; i < m->size; i++)
		if (m->slots[i].value)
			visit(ctx, m->slots[i].key, m->slots[i].value);
}

void pd_map_free(struct pd_map *m)
{
	pd_budget_free(m->budget, m->slots, m->size * sizeof(*m->slots));
	*m = (struct pd_map){ .budget = m->budget };
}
