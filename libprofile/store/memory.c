/* memory.c - arrays that grow within a limit. */
#include "store/memory.h"

#include <stdlib.h>

#include "base/pages.h"

bool pp_memory_has_room(const struct pp_memory *m, size_t count, size_t size)
{
	uint64_t bytes;

	return !__builtin_mul_overflow((uint64_t)count, (uint64_t)size, &bytes) &&
	       m->used <= m->limit && bytes <= m->limit - m->used;
}

static int charge_memory(struct pp_memory *m, size_t count, size_t size, uint64_t *bytes)
{
	if (!pp_memory_has_room(m, count, size)) {
		m->refused = true;
		return -1;
	}
	*bytes = (uint64_t)count * size;
	m->used += *bytes;
	return 0;
}

void *pp_memory_move(struct pp_memory *m, void *items, size_t *capacity, size_t need, size_t size)
{
	size_t more = *capacity ? *capacity * 2 : 64;
	uint64_t bytes;
	void *moved;

	if (need <= *capacity)
		return items;
	if (more < need)
		more = need;
	if (charge_memory(m, more - *capacity, size, &bytes))
		return NULL;
	moved = realloc(items, more * size);
	if (!moved) {
		m->used -= bytes;
		m->refused = true;
		return NULL;
	}
	*capacity = more;
	return moved;
}

void *pp_memory_zeroed(struct pp_memory *m, size_t count, size_t size)
{
	uint64_t bytes;
	void *items;

	if (charge_memory(m, count, size, &bytes))
		return NULL;
	items = calloc(count ? count : 1, size);
	if (!items) {
		m->used -= bytes;
		m->refused = true;
	}
	return items;
}

void *pp_memory_written(struct pp_memory *m, size_t count, size_t size)
{
	void *items = pp_memory_zeroed(m, count, size);

	pd_pages_write(items, count * size);
	return items;
}

void pp_memory_free(struct pp_memory *m, void *items, size_t count, size_t size)
{
	if (items)
		m->used -= (uint64_t)count * size;
	free(items);
}
