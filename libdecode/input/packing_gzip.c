/* packing_gzip.c - gzip, with zlib. */
#include <string.h>
#include <zlib.h>

#include "input/packing.h"

#define GZIP_ONLY (15 + 16)	/* for inflateInit2: the largest window, and gzip headers only */
#define STEP_MAX (1u << 30)	/* zlib counts in unsigned int */

struct gzip {
	z_stream stream;
	bool open;
};

static bool starts_gzip(struct pd_bytes head)
{
	return head.size >= 2 && head.data[0] == 0x1f && head.data[1] == 0x8b;
}

static voidpf alloc_block(voidpf blocks, uInt items, uInt size)
{
	return pd_blocks_alloc(blocks, (size_t)items * size);
}

static void release_block(voidpf blocks, voidpf p)
{
	pd_blocks_release(blocks, p);
}

static enum pd_code begin_gzip(void *state, struct pd_blocks *b)
{
	struct gzip *g = state;

	if (g->open)
		return inflateReset(&g->stream) == Z_OK ? PD_OK : PD_E_CODEC;
	g->stream.zalloc = alloc_block;
	g->stream.zfree = release_block;
	g->stream.opaque = b;
	g->open = inflateInit2(&g->stream, GZIP_ONLY) == Z_OK;
	return g->open ? PD_OK : PD_E_LIMIT;
}

static enum pd_code step_gzip(void *state, struct pd_packing_step *s)
{
	z_stream *z = &((struct gzip *)state)->stream;
	int result;

	z->next_in = (void *)(uintptr_t)s->in.data;	/* zlib only reads it */
	z->avail_in = (uInt)(s->in.size < STEP_MAX ? s->in.size : STEP_MAX);
	z->next_out = s->out;
	z->avail_out = (uInt)(s->room < STEP_MAX ? s->room : STEP_MAX);
	result = inflate(z, Z_NO_FLUSH);
	s->taken = s->in.size ? (size_t)(z->next_in - s->in.data) : 0;
	s->made = (size_t)(z->next_out - s->out);
	s->ended = result == Z_STREAM_END;
	if (result == Z_MEM_ERROR)
		return PD_E_LIMIT;
	return s->ended || result == Z_OK || result == Z_BUF_ERROR ? PD_OK : PD_E_CODEC;
}

static void end_gzip(void *state)
{
	struct gzip *g = state;

	if (g->open)
		inflateEnd(&g->stream);
}

const struct pd_packing pd_packing_gzip = {
	.name = "gzip", .state_size = sizeof(struct gzip), .starts = starts_gzip,
	.begin = begin_gzip, .step = step_gzip, .end = end_gzip,
};
