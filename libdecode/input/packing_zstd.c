/* packing_zstd.c - zstd for whole inputs, with the decoder of compressed records. */
#include <string.h>

#include "input/packing.h"
#include "input/zstd_stream.h"

struct zstd {
	struct pd_zstd_stream *zstd;
};

static bool starts_zstd(struct pd_bytes head)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

	return head.size >= sizeof(magic) && memcmp(head.data, magic, sizeof(magic)) == 0;
}

/* Skippable frames may follow, too. */
static bool goes_on_zstd(struct pd_bytes head)
{
	static const uint8_t skippable[] = { 0x2a, 0x4d, 0x18 };

	return starts_zstd(head) || (head.size > sizeof(skippable) && head.data[0] >> 4 == 5 &&
				     memcmp(head.data + 1, skippable, sizeof(skippable)) == 0);
}

static enum pd_code begin_zstd(void *state, struct pd_blocks *b)
{
	struct zstd *z = state;
	struct pd_error e;

	if (!z->zstd)
		z->zstd = pd_zstd_stream_new(b->budget, &e);
	return z->zstd ? PD_OK : e.code;
}

static enum pd_code step_zstd(void *state, struct pd_packing_step *s)
{
	struct zstd *z = state;
	struct pd_error e;
	size_t left;
	int64_t made;

	pd_zstd_stream_input(z->zstd, s->in);
	made = pd_zstd_stream_read_frame(z->zstd, s->out, s->room, &left, &e);
	if (made < 0)
		return e.code;
	s->made = (size_t)made;
	s->taken = s->in.size - left;
	s->ended = (s->made || s->taken) && pd_zstd_stream_at_frame_end(z->zstd);
	return PD_OK;
}

static void end_zstd(void *state)
{
	pd_zstd_stream_free(((struct zstd *)state)->zstd);
}

const struct pd_packing pd_packing_zstd = {
	.name = "zstd", .state_size = sizeof(struct zstd), .starts = starts_zstd,
	.goes_on = goes_on_zstd,
	.begin = begin_zstd, .step = step_zstd, .end = end_zstd,
};
