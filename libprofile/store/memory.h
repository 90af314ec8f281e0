/* memory.h - arrays that grow within a limit. */
#ifndef PP_MEMORY_H
#define PP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PP_NONE UINT32_MAX

struct pp_memory {
	uint64_t limit, used;	/* bytes */
	bool refused;		/* something was: what it was for may be missing */
};

/* The same as pp_memory_grow(), for what may not fit into the array. */
void *pp_memory_move(struct pp_memory *m, void *items, size_t *capacity, size_t need, size_t size);

/* Makes room for `need` items of `size` bytes. Returns the array, which may have moved;
 * or NULL: it is then as it was. */
static inline void *pp_memory_grow(struct pp_memory *m, void *items, size_t *capacity, size_t need,
				   size_t size)
{
	return need <= *capacity ? items : pp_memory_move(m, items, capacity, need, size);
}

enum { PP_VARINT_MOST = 10 };

/* Writes a number as seven bits a byte, the lowest first: PP_VARINT_MOST bytes at most. Returns the
 * end. */
static inline uint8_t *pp_write_varint(uint8_t *at, uint64_t n)
{
	for (; n > 127; n >>= 7)
		*at++ = (uint8_t)(n | 128);
	*at++ = (uint8_t)n;
	return at;
}

/* Returns whether an array fits into the limit: for callers that can do without. */
bool pp_memory_has_room(const struct pp_memory *m, size_t count, size_t size);

/* Returns zeroed memory, or NULL. */
void *pp_memory_zeroed(struct pp_memory *m, size_t count, size_t size);
/* The same for a large table that is read before it is written to: see base/pages.h. */
void *pp_memory_written(struct pp_memory *m, size_t count, size_t size);

/* Frees an array of `count` items of `size` bytes. It may be NULL. */
void pp_memory_free(struct pp_memory *m, void *items, size_t count, size_t size);

#endif
