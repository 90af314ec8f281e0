/* blocks.c - reusable memory for compression libraries: see blocks.h. */
#include "input/blocks.h"

struct pd_block {
	size_t size;		/* including this header */
	struct pd_block *next;	/* next unused block */
	max_align_t data[];
};

/* Finds the smallest unused block that is large enough. */
static struct pd_block **find_unused(struct pd_blocks *b, size_t size)
{
	struct pd_block **best = NULL;

	for (struct pd_block **at = &b->unused; *at; at = &(*at)->next)
		if ((*at)->size >= size && (!best || (*at)->size < (*best)->size))
			best = at;
	return best;
}

void *pd_blocks_alloc(struct pd_blocks *b, size_t size)
{
	const size_t total = sizeof(struct pd_block) + size;
	struct pd_block **unused, *block;

	if (total < size)
		return NULL;
	unused = find_unused(b, total);
	if (unused) {
		block = *unused;
		*unused = block->next;
		return block->data;
	}
	if (b->unused && !pd_budget_has_room(b->budget, total))
		pd_blocks_free(b);
	block = pd_budget_alloc(b->budget, total);
	if (!block)
		return NULL;
	block->size = total;
	return block->data;
}

void pd_blocks_release(struct pd_blocks *b, void *p)
{
	struct pd_block *block;

	if (!p)
		return;
	block = (void *)((uint8_t *)p - offsetof(struct pd_block, data));
	block->next = b->unused;
	b->unused = block;
}

void pd_blocks_free(struct pd_blocks *b)
{
	while (b->unused) {
		struct pd_block *block = b->unused;

		b->unused = block->next;
		pd_budget_free(b->budget, block, block->size);
	}
}
