/* packing_xz.c - xz, with liblzma. */
#include <lzma.h>
#include <string.h>

#include "input/packing.h"

struct xz {
	lzma_stream stream;
	lzma_allocator allocator;
};

static bool starts_xz(struct pd_bytes head)
{
	static const uint8_t magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0x00 };

	return head.size >= sizeof(magic) && memcmp(head.data, magic, sizeof(magic)) == 0;
}

static void *alloc_block(void *blocks, size_t items, size_t size)
{
	size_t total;

	return __builtin_mul_overflow(items, size, &total) ? NULL : pd_blocks_alloc(blocks, total);
}

static void release_block(void *blocks, void *p)
{
	pd_blocks_release(blocks, p);
}

/* The allocator enforces the budget, so the library needs no limit of its own. It keeps its memory
 * for the next stream. */
static enum pd_code begin_xz(void *state, struct pd_blocks *b)
{
	struct xz *x = state;

	x->allocator = (lzma_allocator){ .alloc = alloc_block, .free = release_block, .opaque = b };
	x->stream.allocator = &x->allocator;
	return lzma_stream_decoder(&x->stream, UINT64_MAX, 0) == LZMA_OK ? PD_OK : PD_E_LIMIT;
}

static enum pd_code step_xz(void *state, struct pd_packing_step *s)
{
	lzma_stream *x = &((struct xz *)state)->stream;
	lzma_ret result;

	x->next_in = s->in.data;
	x->avail_in = s->in.size;
	x->next_out = s->out;
	x->avail_out = s->room;
	result = lzma_code(x, LZMA_RUN);
	s->taken = s->in.size - x->avail_in;
	s->made = s->room - x->avail_out;
	s->ended = result == LZMA_STREAM_END;
	if (result == LZMA_MEM_ERROR)
		return PD_E_LIMIT;
	return s->ended || result == LZMA_OK || result == LZMA_BUF_ERROR ? PD_OK : PD_E_CODEC;
}

static void end_xz(void *state)
{
	lzma_end(&((struct xz *)state)->stream);
}

const struct pd_packing pd_packing_xz = {
	.name = "xz", .state_size = sizeof(struct xz), .starts = starts_xz,
	.begin = begin_xz, .step = step_xz, .end = end_xz,
};
