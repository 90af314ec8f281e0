/* index.c - a hash table of numbers, whose keys the caller keeps. */
#include "store/index.h"

static void put_slot(struct pp_slot *slots, size_t mask, struct pp_slot s)
{
	size_t i = s.hash & mask;

	while (slots[i].id)
		i = (i + 1) & mask;
	slots[i] = s;
}

static int grow_index(struct pp_index *x, struct pp_memory *m)
{
	const size_t capacity = x->capacity ? x->capacity * 2 : 64;
	struct pp_slot *slots = pp_memory_written(m, capacity, sizeof(*slots));

	if (!slots)
		return -1;
	for (size_t i = 0; i < x->capacity; i++)
		if (x->slots[i].id)
			put_slot(slots, capacity - 1, x->slots[i]);
	pp_memory_free(m, x->slots, x->capacity, sizeof(*x->slots));
	x->slots = slots;
	x->capacity = capacity;
	return 0;
}

int pp_index_add(struct pp_index *x, struct pp_memory *m, uint32_t hash, uint32_t id)
{
	if (x->used * 4 >= x->capacity * 3 && grow_index(x, m))
		return -1;
	put_slot(x->slots, x->capacity - 1, (struct pp_slot){ hash, id + 1 });
	x->used++;
	return 0;
}

void pp_index_free(struct pp_index *x, struct pp_memory *m)
{
	pp_memory_free(m, x->slots, x->capacity, sizeof(*x->slots));
	*x = (struct pp_index){ 0 };
}
