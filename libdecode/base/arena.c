/* arena.c - many small allocations that are freed together. */
#include "base/arena.h"

#include <string.h>

#define ALIGN 16
#define BLOCK 4096

struct pd_arena_block {
	struct pd_arena_block *next;
	size_t size, used;
	_Alignas(ALIGN) uint8_t bytes[];
};

void *pd_arena_alloc(struct pd_arena *a, size_t size)
{
	struct pd_arena_block *b = a->blocks;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!b || b->size - b->used < size) {
		size_t room = size > BLOCK ? size : BLOCK;

		b = pd_budget_alloc(a->budget, sizeof(*b) + room);
		if (!b)
			return NULL;
		b->size = room;
		b->next = a->blocks;
		a->blocks = b;
	}
	p = b->bytes + b->used;
	b->used += size;
	return p;
}

char *pd_arena_text(struct pd_arena *a, const void *p, size_t n)
{
	char *text = n < SIZE_MAX ? pd_arena_alloc(a, n + 1) : NULL;

	if (text && n)
		memcpy(text, p, n);
	return text;
}

void pd_arena_free(struct pd_arena *a)
{
	struct pd_arena_block *b = a->blocks;

	while (b) {
		struct pd_arena_block *next = b->next;

		pd_budget_free(a->budget, b, sizeof(*b) + b->size);
		b = next;
	}
	a->blocks = NULL;
}
