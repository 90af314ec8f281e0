/* map.c - a hash map from u64 to pointers. */
#include "base/map.h"

#include "base/hash.h"

struct pd_map_slot {
	uint64_t key;
	void *value;
};

static struct pd_map_slot *find_slot(const struct pd_map *m, uint64_t key)
{
	size_t i = pd_hash_mix(m->seed, key) & (m->size - 1);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->size - 1);
	return &m->slots[i];
}

static int grow_map(struct pd_map *m)
{
	struct pd_map bigger = { .budget = m->budget, .size = m->size ? m->size * 2 : 16,
		.used = m->used,
				 .seed = m->size ? m->seed : pd_hash_seed(m) };

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

void pd_map_replace(struct pd_map *m, uint64_t key, void *value)
{
	struct pd_map_slot *slot = m->size ? find_slot(m, key) : NULL;

	if (slot && slot->value)
		slot->value = value;
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
