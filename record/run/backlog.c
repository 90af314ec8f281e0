/* backlog.c - records waiting for the writer, in a list of blocks. */
#include "run/backlog.h"

#include <stdlib.h>
#include <string.h>

#include "capture/ring.h"

#define BLOCK ((size_t)1 << 20)

struct backlog_block {
	struct backlog_block *next;
	size_t used, room;
	uint8_t data[];
};

/* Returns a block with `size` contiguous bytes free, or NULL: over the limit, or no memory. */
static struct backlog_block *block_with_room(struct backlog *h, size_t size)
{
	size_t room = size > BLOCK ? size : BLOCK;
	struct backlog_block *b = h->last;

	if (b && b->room - b->used >= size)
		return b;
	b = h->room + room <= BACKLOG_MOST ? malloc(sizeof(*b) + room) : NULL;
	if (!b)
		return NULL;
	*b = (struct backlog_block){ .room = room };
	if (h->last)
		h->last->next = b;
	else
		h->first = b;
	h->last = b;
	h->blocks++;
	h->room += room;
	return b;
}

bool backlog_add(struct backlog *h, const struct pd_bytes *spans, size_t n)
{
	struct backlog_block *b = block_with_room(h, spans_size(spans, n));

	for (size_t i = 0; b && i < n; i++) {
		memcpy(b->data + b->used, spans[i].data, spans[i].size);
		b->used += spans[i].size;
	}
	return b != NULL;
}

struct pd_bytes backlog_first(const struct backlog *h)
{
	return h->first ? (struct pd_bytes){ h->first->data, h->first->used } :
			  (struct pd_bytes){ 0 };
}

void backlog_drop(struct backlog *h)
{
	struct backlog_block *b = h->first;

	h->first = b->next;
	if (!h->first)
		h->last = NULL;
	h->blocks--;
	h->room -= b->room;
	free(b);
}

void backlog_free(struct backlog *h)
{
	while (h->first)
		backlog_drop(h);
}
