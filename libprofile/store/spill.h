/* spill.h - blocks of bytes in an unlinked temporary file, when memory runs short. */
#ifndef PP_SPILL_H
#define PP_SPILL_H

#include "store/memory.h"
#include "pd/error.h"

struct pp_spill;

/* Blocks that belong together, in their order. Must be zero-initialized. */
struct pp_block_list {
	uint32_t first, last;	/* numbers of blocks + 1, 0: none */
};

/* Where a list is being read; must be { .next = list.first } at first. */
struct pp_spill_place {
	uint32_t next;		/* block + 1, 0: none */
	uint64_t offset, left;	/* what was not yet read of the block before */
};

/* The file is created with the first block. `limit` is for the places of the blocks, which have
 * memory of their own: other memory has run out when blocks are added. Returns NULL without
 * memory. */
struct pp_spill *pp_spill_new(uint64_t limit);

/* Adds a block to a list. Returns 0, or -1 without memory or when the file can't be written. */
int pp_spill_add(struct pp_spill *s, struct pp_block_list *list, const uint8_t *bytes,
		 uint64_t size);

/* Reads more of a list: bytes of one block, of which the first are the last `again` bytes of the
 * call before. Returns how many, 0 at the end or on failure, and sets *bytes, valid until the next
 * call for any list. */
size_t pp_spill_read(struct pp_spill *s, struct pp_spill_place *place, size_t again,
		     const uint8_t **bytes);

/* Returns the error of the file, PD_OK if there was none. */
const struct pd_error *pp_spill_error(const struct pp_spill *s);

/* For a block that could not be added, if the caller can do without: what is in the file stays. */
void pp_spill_forget_error(struct pp_spill *s);

void pp_spill_free(struct pp_spill *s);

#endif
