/* arena.h - many small allocations that live and die together, charged to a budget. */
#ifndef PD_BASE_ARENA_H
#define PD_BASE_ARENA_H

#include "base/buf.h"

struct pd_arena_block;

/* Zero-initialise with a budget. */
struct pd_arena {
	struct pd_budget *budget;
	struct pd_arena_block *blocks;
};

/* size bytes, zeroed, aligned for any type; NULL when there is no more. */
void *pd_arena_alloc(struct pd_arena *a, size_t size);
/* n bytes of p and a NUL. */
char *pd_arena_text(struct pd_arena *a, const void *p, size_t n);
void pd_arena_free(struct pd_arena *a);

#endif
