/* zstd_stream.c - the zstd stream inside COMPRESSED and COMPRESSED2 records. */
#include "input/zstd_stream.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_LOG_MIN 10
#define WINDOW_LOG_MAX 27	/* zstd's own default limit */
#define CONTEXT_SIZE (512u << 10)	/* generous: tables and the buffer for one block */
#define BLOCK_HEADER 3
#define FIRST_STEP 5

struct pd_zstd_stream {
	struct pd_budget *budget;
	ZSTD_DStream *stream;
	size_t charged;
	struct pd_bytes in;
	size_t at;
	size_t hint;		/* input size that zstd asks for; 0 between frames */
	bool pending;		/* zstd may hold output that did not fit */
	bool broken;		/* until a payload starts a new frame */
	enum pd_code why;	/* it is broken */
	enum pd_code report;	/* damage not reported yet */
};

static void charge_memory(struct pd_zstd_stream *c)
{
	size_t size = c->stream ? ZSTD_sizeof_DStream(c->stream) : 0;

	c->budget->used += size;
	c->budget->used -= c->charged;
	c->charged = size;
}

/* zstd accepts this between frames only. */
static void limit_window(struct pd_zstd_stream *c)
{
	uint64_t used = c->budget->used - c->charged;
	uint64_t left = used < c->budget->limit ? c->budget->limit - used : 0;
	int log = WINDOW_LOG_MAX;

	while (log > WINDOW_LOG_MIN && (1ull << log) + CONTEXT_SIZE > left)
		log--;
	ZSTD_DCtx_setParameter(c->stream, ZSTD_d_windowLogMax, log);
}

struct pd_zstd_stream *pd_zstd_stream_new(struct pd_budget *b, struct pd_error *e)
{
	struct pd_zstd_stream *c = pd_budget_alloc(b, sizeof(*c));

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	if (!c) {
		if (b->used > b->limit || b->limit - b->used < sizeof(*c))
			e->code = PD_E_LIMIT;
		return NULL;
	}
	c->budget = b;
	c->stream = ZSTD_createDStream();
	if (!c->stream) {
		pd_zstd_stream_free(c);
		return NULL;
	}
	charge_memory(c);
	if (b->used > b->limit) {
		e->code = PD_E_LIMIT;
		pd_zstd_stream_free(c);
		return NULL;
	}
	limit_window(c);
	*e = (struct pd_error){ .code = PD_OK };
	return c;
}

void pd_zstd_stream_free(struct pd_zstd_stream *c)
{
	if (!c)
		return;
	ZSTD_freeDStream(c->stream);
	c->stream = NULL;
	charge_memory(c);
	pd_budget_free(c->budget, c, sizeof(*c));
}

static bool starts_frame(struct pd_bytes in)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

	return in.size >= sizeof(magic) && !memcmp(in.data, magic, sizeof(magic));
}

bool pd_zstd_stream_give_up(struct pd_zstd_stream *c, struct pd_bytes next)
{
	if (c->broken || !c->hint || !starts_frame(next))
		return false;
	c->broken = true;
	return true;
}

void pd_zstd_stream_input(struct pd_zstd_stream *c, struct pd_bytes in)
{
	c->in = in;
	c->at = 0;
	c->report = PD_OK;
	if (c->broken && starts_frame(in)) {
		ZSTD_DCtx_reset(c->stream, ZSTD_reset_session_only);
		c->broken = false;
		c->pending = false;
		c->hint = 0;
	}
	if (c->broken)
		c->report = c->why;
	else if (!c->hint)
		limit_window(c);
}

static void set_broken(struct pd_zstd_stream *c, size_t zstd_result)
{
	c->broken = true;
	c->pending = false;
	switch (ZSTD_getErrorCode(zstd_result)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		c->why = PD_E_LIMIT;
		break;
	case ZSTD_error_memory_allocation:
		c->why = PD_E_NOMEM;
		break;
	default:
		c->why = PD_E_CODEC;
	}
	c->report = c->why;
}

/* A failing call loses the output that it has made. So no call gets more input than one block or
 * one header: `hint` is the size of the block and of the header after it. */
static size_t step_size(const struct pd_zstd_stream *c)
{
	size_t left = c->in.size - c->at;
	size_t step = c->hint ? c->hint : FIRST_STEP;

	if (step > BLOCK_HEADER)
		step -= BLOCK_HEADER;
	return step < left ? step : left;
}

enum until { END_OF_INPUT, END_OF_FRAME };

static int64_t read_until(struct pd_zstd_stream *c, enum until until, void *p, size_t n,
			  struct pd_error *e)
{
	ZSTD_outBuffer out = { p, n, 0 };

	while (!c->broken && out.pos < n && (c->at < c->in.size || c->pending)) {
		ZSTD_inBuffer in = { c->in.data, c->at + step_size(c), c->at };
		size_t result = ZSTD_decompressStream(c->stream, &out, &in);

		if (ZSTD_isError(result)) {
			set_broken(c, result);
			break;
		}
		c->at = in.pos;
		c->hint = result;
		c->pending = out.pos == n && result;
		if (!result && until == END_OF_FRAME)
			break;
	}
	charge_memory(c);
	if (out.pos || !c->report)
		return (int64_t)out.pos;
	*e = (struct pd_error){ .code = c->report, .severity = PD_DAMAGED, .field = "zstd" };
	c->in.size = c->at = 0;
	c->report = PD_OK;
	return -1;
}

int64_t pd_zstd_stream_read(struct pd_zstd_stream *c, void *p, size_t n, struct pd_error *e)
{
	return read_until(c, END_OF_INPUT, p, n, e);
}

int64_t pd_zstd_stream_read_frame(struct pd_zstd_stream *c, void *p, size_t n, size_t *left,
				  struct pd_error *e)
{
	const int64_t got = read_until(c, END_OF_FRAME, p, n, e);

	*left = c->in.size - c->at;
	return got;
}

bool pd_zstd_stream_at_frame_end(const struct pd_zstd_stream *c)
{
	return !c->broken && !c->hint;
}
