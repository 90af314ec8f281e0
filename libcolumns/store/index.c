/* index.c - a hash table of numbers, whose keys the caller keeps. */
#include "store/index.h"

#include <string.h>

static void put_slot(struct pc_slot *slots, size_t mask, struct pc_slot s)
{
	size_t i = s.hash & mask;

	while (slots[i].id)
		i = (i + 1) & mask;
	slots[i] = s;
}

static int grow_index(struct pc_index *x)
{
	const size_t capacity = x->capacity ? x->capacity * 2 : 64;
	struct pc_slot *slots;

	if (capacity > SIZE_MAX / 2 / sizeof(*slots))
		return -1;
	slots = pd_budget_alloc_written(x->budget, capacity * sizeof(*slots));
	if (!slots)
		return -1;
	for (size_t i = 0; i < x->capacity; i++)
		if (x->slots[i].id)
			put_slot(slots, capacity - 1, x->slots[i]);
	pd_budget_free(x->budget, x->slots, x->capacity * sizeof(*slots));
	x->slots = slots;
	x->capacity = capacity;
	return 0;
}

int pc_index_add(struct pc_index *x, uint32_t hash, uint32_t id)
{
	if (x->used * 4 >= x->capacity * 3 && grow_index(x))
		return -1;
	put_slot(x->slots, x->capacity - 1, (struct pc_slot){ hash, id + 1 });
	x->used++;
	return 0;
}

void pc_index_clear(struct pc_index *x)
{
	if (x->used)
		memset(x->slots, 0, x->capacity * sizeof(*x->slots));
	x->used = 0;
}

void pc_index_free(struct pc_index *x)
{
	pd_budget_free(x->budget, x->slots, x->capacity * sizeof(*x->slots));
	*x = (struct pc_index){ .budget = x->budget };
}
