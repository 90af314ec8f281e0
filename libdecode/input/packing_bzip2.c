/* packing_bzip2.c - bzip2, with libbz2. */
#include <bzlib.h>
#include <string.h>

#include "input/packing.h"

#define STEP_MAX (1u << 30)	/* libbz2 counts in unsigned int */

struct bzip2 {
	bz_stream stream;
	bool open;
};

/* The level is followed by a block or, without content, by the end of the stream. */
static bool starts_bzip2(struct pd_bytes head)
{
	static const uint8_t block[] = { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59 },
			     last[] = { 0x17, 0x72, 0x45, 0x38, 0x50, 0x90 };

	return head.size >= 10 && memcmp(head.data, "BZh", 3) == 0 && head.data[3] >= '1' &&
	       head.data[3] <= '9' &&
	       (memcmp(head.data + 4, block, sizeof(block)) == 0 ||
		memcmp(head.data + 4, last, sizeof(last)) == 0);
}

static void *alloc_block(void *blocks, int items, int size)
{
	return pd_blocks_alloc(blocks, (size_t)items * (size_t)size);
}

static void release_block(void *blocks, void *p)
{
	pd_blocks_release(blocks, p);
}

static void end_bzip2(void *state)
{
	struct bzip2 *z = state;

	if (z->open)
		BZ2_bzDecompressEnd(&z->stream);
	z->open = false;
}

static enum pd_code begin_bzip2(void *state, struct pd_blocks *b)
{
	struct bzip2 *z = state;

	end_bzip2(z);
	z->stream = (bz_stream){ .bzalloc = alloc_block, .bzfree = release_block, .opaque = b };
	z->open = BZ2_bzDecompressInit(&z->stream, 0, 0) == BZ_OK;
	return z->open ? PD_OK : PD_E_LIMIT;
}

static enum pd_code step_bzip2(void *state, struct pd_packing_step *s)
{
	bz_stream *z = &((struct bzip2 *)state)->stream;
	int result;

	z->next_in = (void *)(uintptr_t)s->in.data;	/* libbz2 only reads it */
	z->avail_in = (unsigned int)(s->in.size < STEP_MAX ? s->in.size : STEP_MAX);
	z->next_out = (void *)s->out;
	z->avail_out = (unsigned int)(s->room < STEP_MAX ? s->room : STEP_MAX);
	result = BZ2_bzDecompress(z);
	s->taken = s->in.size ? (size_t)((const uint8_t *)z->next_in - s->in.data) : 0;
	s->made = (size_t)((uint8_t *)z->next_out - s->out);
	s->ended = result == BZ_STREAM_END;
	if (result == BZ_MEM_ERROR)
		return PD_E_LIMIT;
	return s->ended || result == BZ_OK ? PD_OK : PD_E_CODEC;
}

const struct pd_packing pd_packing_bzip2 = {
	.name = "bzip2", .state_size = sizeof(struct bzip2), .starts = starts_bzip2,
	.begin = begin_bzip2, .step = step_bzip2, .end = end_bzip2,
};
