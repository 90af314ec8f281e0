/* buf.c - a growing buffer, charged to a budget. */
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

enum { ROOM_FIRST = 64 };	/* items */

static bool is_within_limit(const struct pd_budget *b, uint64_t used, uint64_t size)
{
	return size <= b->limit && used <= b->limit - size;
}

bool pd_budget_has_room(const struct pd_budget *b, uint64_t size)
{
	return is_within_limit(b, __atomic_load_n(&b->used, __ATOMIC_RELAXED), size);
}

void pd_budget_note_refused(struct pd_budget *b)
{
	__atomic_store_n(&b->refused, true, __ATOMIC_RELAXED);
}

bool pd_budget_charge(struct pd_budget *b, uint64_t size)
{
	uint64_t used = __atomic_load_n(&b->used, __ATOMIC_RELAXED);

	do
		if (!is_within_limit(b, used, size)) {
			pd_budget_note_refused(b);
			return false;
		}
	while (!__atomic_compare_exchange_n(&b->used, &used, used + size, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	return true;
}

void pd_budget_give_back(struct pd_budget *b, uint64_t size)
{
	__atomic_fetch_sub(&b->used, size, __ATOMIC_RELAXED);
}

void *pd_budget_alloc(struct pd_budget *b, size_t size)
{
	void *p;

	if (!pd_budget_charge(b, size))
		return NULL;
	p = calloc(1, size ? size : 1);
	if (!p) {
		pd_budget_give_back(b, size);
		pd_budget_note_refused(b);
	}
	return p;
}

void *pd_budget_alloc_written(struct pd_budget *b, size_t size)
{
	void *p = pd_budget_alloc(b, size);

	pd_pages_write(p, size);
	return p;
}

/* As pd_budget_grow(), but what is added is not set. */
static void *resize(struct pd_budget *b, void *p, size_t old_size, size_t new_size)
{
	void *q;

	if (new_size > old_size && !pd_budget_charge(b, new_size - old_size))
		return NULL;
	q = realloc(p, new_size ? new_size : 1);
	if (!q) {
		if (new_size > old_size)
			pd_budget_give_back(b, new_size - old_size);
		pd_budget_note_refused(b);
		return NULL;
	}
	if (new_size < old_size)
		pd_budget_give_back(b, old_size - new_size);
	return q;
}

void *pd_budget_grow(struct pd_budget *b, void *p, size_t old_size, size_t new_size)
{
	uint8_t *q = resize(b, p, old_size, new_size);

	if (q && new_size > old_size)
		memset(q + old_size, 0, new_size - old_size);
	return q;
}

void pd_budget_free(struct pd_budget *b, void *p, size_t size)
{
	if (!p)
		return;
	pd_budget_give_back(b, size);
	free(p);
}

void *pd_budget_room(struct pd_budget *b, void *items, size_t nr, size_t *capacity, size_t width)
{
	const size_t more = *capacity ? *capacity * 2 : ROOM_FIRST;
	void *moved;

	if (nr < *capacity)
		return items;
	if (more > SIZE_MAX / width)
		return NULL;
	moved = pd_budget_grow(b, items, *capacity * width, more * width);
	if (moved)
		*capacity = more;
	return moved;
}

uint8_t *pd_buf_reserve(struct pd_buf *b, size_t n)
{
	size_t capacity = b->capacity ? b->capacity : 256;
	uint8_t *data;

	if (b->failed)
		return NULL;
	if (b->data && n <= b->capacity - b->size)
		return b->data + b->size;
	if (n > SIZE_MAX / 4 || b->size > SIZE_MAX / 4) {
		b->failed = true;
		pd_budget_note_refused(b->budget);
		return NULL;
	}
	while (capacity - b->size < n)
		capacity *= 2;
	data = resize(b->budget, b->data, b->capacity, capacity);
	if (!data) {
		b->failed = true;
		return NULL;
	}
	b->data = data;
	b->capacity = capacity;
	return data + b->size;
}

void pd_buf_append(struct pd_buf *b, const void *p, size_t n)
{
	uint8_t *at = pd_buf_reserve(b, n);

	if (!at || !n)
		return;
	memcpy(at, p, n);
	b->size += n;
}

void pd_buf_consume(struct pd_buf *b, size_t n)
{
	if (!n)
		return;
	memmove(b->data, b->data + n, b->size - n);
	b->size -= n;
}

void pd_buf_free(struct pd_buf *b)
{
	pd_budget_free(b->budget, b->data, b->capacity);
	*b = (struct pd_buf){ .budget = b->budget };
}
