/* buf.h - growing bytes. Every allocation of the library that input can drive is charged to a budget. */
#ifndef PD_BASE_BUF_H
#define PD_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"

/* How much input may make the library hold and expand. */
struct pd_budget {
	uint64_t limit, used;			/* bytes of memory */
	uint64_t max_expanded, max_ratio;	/* of compressed input: bytes, or times what was read; both 0: any */
};

/* Whether a decompressor that has made `made` bytes of `read` bytes of input may make more. */
static inline bool pd_budget_may_expand(const struct pd_budget *b, uint64_t made, uint64_t read)
{
	return (!b->max_expanded && !b->max_ratio) || made < b->max_expanded ||
	       (b->max_ratio && made / b->max_ratio <= read);
}

/* Allocates size bytes, zeroed, charged; NULL when the budget or the machine says no. */
void *pd_budget_alloc(struct pd_budget *b, size_t size);
/* p as from pd_budget_alloc() or NULL, with its old size. On failure NULL, and p stays valid. */
void *pd_budget_grow(struct pd_budget *b, void *p, size_t old_size, size_t new_size);
void pd_budget_free(struct pd_budget *b, void *p, size_t size);

/* Failure is sticky: after it appends do nothing and `failed` stays set. Zero-initialise with a budget. */
struct pd_buf {
	uint8_t *data;
	size_t size, capacity;
	struct pd_budget *budget;
	bool failed;
};

/* Room for n more bytes at data + size, or NULL. */
uint8_t *pd_buf_reserve(struct pd_buf *b, size_t n);
void pd_buf_append(struct pd_buf *b, const void *p, size_t n);
/* Drops the first n bytes. */
void pd_buf_consume(struct pd_buf *b, size_t n);
void pd_buf_free(struct pd_buf *b);

static inline struct pd_bytes pd_buf_bytes(const struct pd_buf *b)
{
	return (struct pd_bytes){ b->data, b->size };
}

#endif
