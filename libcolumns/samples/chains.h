/* chains.h - numbers for frames and stacks, in the order of their first appearance.
 *
 * The maps that find equal ones are caches: a full one starts empty, and what it held gets a second
 * number when it comes again. */
#ifndef PC_CHAINS_H
#define PC_CHAINS_H

#include "pd/history.h"
#include "store/index.h"

enum pc_frame_kind {
	PC_FRAME_LOCATED,	/* by its cpumode */
	PC_FRAME_CODE,		/* the same, in the code of a JIT compiler, which a namer knows */
	PC_FRAME_UNMAPPED,
	PC_FRAME_MARKER,	/* PERF_CONTEXT_*: the offset */
	PC_FRAME_COOKIE,	/* of a user stack that is recorded later: the offset */
};

struct pc_frame {
	uint64_t offset;
	uint32_t object;	/* PD_NO_IMAGE: none; of CODE: pc_code_number() */
	uint8_t kind;		/* enum pc_frame_kind */
	uint8_t cpumode;	/* enum pd_cpumode */
	uint8_t why;		/* enum pd_why */
	uint8_t exact;
};

struct pc_stack_place {
	size_t start, count;	/* in `items` */
};

struct pc_chains {
	struct pc_index frame_index, stack_index;	/* of places in the caches */
	struct pd_buf frames;		/* struct pc_frame */
	struct pd_buf stacks;		/* struct pc_stack_place */
	struct pd_buf items;		/* uint32_t: frames of all stacks in the cache */
	uint32_t first_frame, first_stack;	/* numbers of the first in the caches */
	uint64_t limit;			/* bytes for each of the two */
};

void pc_chains_init(struct pc_chains *c, struct pd_budget *budget, uint64_t limit);
void pc_chains_free(struct pc_chains *c);

uint32_t pc_frame_hash(struct pc_chains *c, const struct pc_frame *f);

/* Fetches what pc_frame_number() reads of a frame with this hash: it is seldom in a near cache of
 * the CPU, and those of many frames can be fetched at once. */
static inline PC_FETCHES void pc_frame_prefetch(const struct pc_chains *c, uint32_t hash)
{
	pc_index_prefetch(&c->frame_index, hash);
}

/* Fetches the frame that pc_frame_number() compares it with, once the first part is there. */
static inline PC_FETCHES void pc_frame_prefetch_same(const struct pc_chains *c, uint32_t hash)
{
	const uint32_t place = pc_index_first(&c->frame_index, hash);

	if (place != PC_NONE)
		__builtin_prefetch((const struct pc_frame *)(const void *)c->frames.data + place);
}

/* Returns the number of a frame, or PC_NONE without memory. *is_new: it has to be written. */
uint32_t pc_frame_number(struct pc_chains *c, uint32_t hash, const struct pc_frame *f,
			 bool *is_new);

uint32_t pc_stack_hash(struct pc_chains *c, const uint32_t *frames, size_t n);

/* The same as pc_frame_prefetch() and pc_frame_prefetch_same(). */
static inline PC_FETCHES void pc_stack_prefetch(const struct pc_chains *c, uint32_t hash)
{
	pc_index_prefetch(&c->stack_index, hash);
}

static inline PC_FETCHES void pc_stack_prefetch_same(const struct pc_chains *c, uint32_t hash)
{
	const uint32_t place = pc_index_first(&c->stack_index, hash);

	if (place != PC_NONE)
		__builtin_prefetch((const struct pc_stack_place *)(const void *)c->stacks.data +
				   place);
}

/* The same as pc_frame_number() for a stack. */
uint32_t pc_stack_number(struct pc_chains *c, uint32_t hash, const uint32_t *frames, size_t n,
			 bool *is_new);

#endif
