/* arena.h - many small allocations that are freed together, charged to a budget. */
#ifndef PD_BASE_ARENA_H
#define PD_BASE_ARENA_H

#include "base/buf.h"

struct pd_arena_block;

/* Must be zero-initialized, except for the budget. */
struct pd_arena {
	struct pd_budget *budget;
	struct pd_arena_block *blocks;
};

/* Returns `size` zeroed bytes, aligned for any type; NULL without memory. */
void *pd_arena_alloc(struct pd_arena *a, size_t size);
/* Returns a copy of n bytes of p, terminated by a NUL; NULL without memory. */
char *pd_arena_text(struct pd_arena *a, const void *p, size_t n);
void pd_arena_free(struct pd_arena *a);

#endif
