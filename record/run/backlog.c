/* backlog.c - a list of blocks. */
#include "run/backlog.h"

#include <stdlib.h>
#include <string.h>

#include "capture/ring.h"

#define BLOCK ((size_t)1 << 20)

struct held_block {
	struct held_block *next;
	size_t used, room;
	uint8_t data[];
};

/* Where so much fits in one piece. */
static struct held_block *block_for(struct held *h, size_t size)
{
	size_t room = size > BLOCK ? size : BLOCK;
	struct held_block *b = h->last;

	if (b && b->room - b->used >= size)
		return b;
	b = h->room + room <= HELD_MOST ? malloc(sizeof(*b) + room) : NULL;
	if (!b)
		return NULL;
	*b = (struct held_block){ .room = room };
	if (h->last)
		h->last->next = b;
	else
		h->first = b;
	h->last = b;
	h->blocks++;
	h->room += room;
	return b;
}

bool held_add(struct held *h, const struct pd_bytes *spans, size_t n)
{
	struct held_block *b = block_for(h, spans_size(spans, n));

	for (size_t i = 0; b && i < n; i++) {
		memcpy(b->data + b->used, spans[i].data, spans[i].size);
		b->used += spans[i].size;
	}
	return b != NULL;
}

struct pd_bytes held_first(const struct held *h)
{
	return h->first ? (struct pd_bytes){ h->first->data, h->first->used } :
			  (struct pd_bytes){ 0 };
}

void held_drop(struct held *h)
{
	struct held_block *b = h->first;

	h->first = b->next;
	if (!h->first)
		h->last = NULL;
	h->blocks--;
	h->room -= b->room;
	free(b);
}

void held_free(struct held *h)
{
	while (h->first)
		held_drop(h);
}
