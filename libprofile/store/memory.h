/* memory.h - arrays that grow within a limit. */
#ifndef PP_MEMORY_H
#define PP_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define PP_NONE UINT32_MAX

struct pp_memory {
	uint64_t limit, used;	/* bytes */
};

/* Makes room for `need` items of `size` bytes. Returns the array, which may have moved;
 * or NULL: it is then as it was. */
void *pp_memory_grow(struct pp_memory *m, void *items, size_t *capacity, size_t need, size_t size);

/* Returns zeroed memory, or NULL. */
void *pp_memory_zeroed(struct pp_memory *m, size_t count, size_t size);

/* Frees an array of `count` items of `size` bytes. It may be NULL. */
void pp_memory_free(struct pp_memory *m, void *items, size_t count, size_t size);

#endif
