/* buf.h - a growing buffer, and the budget: every allocation that input can drive is charged to
 * one. */
#ifndef PD_BASE_BUF_H
#define PD_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pd/bytes.h"

/* Limits for what input can make the library allocate and expand. Threads may share one. */
struct pd_budget {
	uint64_t limit, used;			/* bytes of memory */
	uint64_t max_expanded, max_ratio;	/* for compressed input: bytes, or a multiple of the
						 * bytes read; both 0: no limit */
	bool refused;				/* something was: what it was for may be missing */
};

/* Returns whether a decompressor that has made `made` bytes from `read` bytes of input may
 * continue. */
static inline bool pd_budget_may_expand(const struct pd_budget *b, uint64_t made, uint64_t read)
{
	return (!b->max_expanded && !b->max_ratio) || made < b->max_expanded ||
	       (b->max_ratio && made / b->max_ratio <= read);
}

/* Charges memory that others allocate. Returns false, and charges nothing, over the limit. */
bool pd_budget_charge(struct pd_budget *b, uint64_t size);
/* Returns whether that is within the limit: for callers that can do with less. */
bool pd_budget_has_room(const struct pd_budget *b, uint64_t size);
void pd_budget_give_back(struct pd_budget *b, uint64_t size);

/* Returns whether the budget, or malloc, has refused memory. */
static inline bool pd_budget_was_refused(const struct pd_budget *b)
{
	return __atomic_load_n(&b->refused, __ATOMIC_RELAXED);
}

/* Notes that memory was refused, to a library that allocates by itself. */
void pd_budget_note_refused(struct pd_budget *b);

/* Allocates `size` zeroed bytes and charges them. Returns NULL if the budget or malloc refuses. */
void *pd_budget_alloc(struct pd_budget *b, size_t size);
/* The same for a large table that is read before it is written to: see base/pages.h. */
void *pd_budget_alloc_written(struct pd_budget *b, size_t size);
/* Grows p, which is from pd_budget_alloc() or NULL, from its old size. Returns NULL on failure; p
 * is then still valid. */
void *pd_budget_grow(struct pd_budget *b, void *p, size_t old_size, size_t new_size);
void pd_budget_free(struct pd_budget *b, void *p, size_t size);
/* Makes room for an item after the first `nr` of an array of *capacity items of `width` bytes.
 * Returns the array, perhaps moved and twice as large; NULL on failure, it is then unchanged. */
void *pd_budget_room(struct pd_budget *b, void *items, size_t nr, size_t *capacity, size_t width);

/* Failure is sticky: later appends do nothing, and `failed` stays set. Must be zero-initialized,
 * except for the budget. */
struct pd_buf {
	uint8_t *data;
	size_t size, capacity;
	struct pd_budget *budget;
	bool failed;
};

/* Returns room for n more bytes at data + size, or NULL. */
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
