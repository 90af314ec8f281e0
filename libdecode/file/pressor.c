/* pressor.c - compresses records into COMPRESSED or COMPRESSED2 records. */
#include "file/pressor.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "layout/container.h"

#define TYPE_COMPRESSED 81
#define TYPE_COMPRESSED2 83
#define ROOM 65000		/* of payload: with header and padding well under what a record's size can say */

struct pd_pressor {
	ZSTD_CStream *stream;
	enum pd_pressed_as as;
	enum pd_swap swap;
	size_t unflushed;	/* bytes taken since the last flush */
	uint64_t taken, made;
	size_t used;
	uint8_t payload[ROOM];
};

struct pd_pressor *pd_pressor_new(int level, enum pd_pressed_as as, enum pd_swap swap)
{
	struct pd_pressor *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->as = as;
	p->swap = swap;
	p->stream = ZSTD_createCStream();
	if (!p->stream || ZSTD_isError(ZSTD_initCStream(p->stream, level))) {
		pd_pressor_free(p);
		return NULL;
	}
	return p;
}

void pd_pressor_free(struct pd_pressor *p)
{
	if (!p)
		return;
	ZSTD_freeCStream(p->stream);
	free(p);
}

/* One record of what is in the payload. */
static int write_record(struct pd_pressor *p, struct pd_out *out)
{
	const bool second = p->as == PD_AS_COMPRESSED2;
	const size_t head = PD_RECORD_HEADER_SIZE + (second ? sizeof(uint64_t) : 0);
	const size_t pad = second ? -(head + p->used) & 7 : 0;
	uint8_t header[2 * PD_RECORD_HEADER_SIZE];

	if (!p->used)
		return 0;
	pd_store(header, second ? TYPE_COMPRESSED2 : TYPE_COMPRESSED, 4, p->swap);
	pd_store(header + 4, 0, 2, p->swap);
	pd_store(header + 6, head + p->used + pad, 2, p->swap);
	if (second)
		pd_store(header + PD_RECORD_HEADER_SIZE, p->used, 8, p->swap);
	p->made += head + p->used + pad;
	pd_out_append(out, header, head);
	pd_out_append(out, p->payload, p->used);
	p->used = 0;
	return pd_out_append(out, (const uint8_t[8]){ 0 }, pad);
}

static int press(struct pd_pressor *p, ZSTD_inBuffer *in, ZSTD_EndDirective end, struct pd_out *out)
{
	size_t left;

	do {
		ZSTD_outBuffer to = { p->payload, ROOM, p->used };

		left = ZSTD_compressStream2(p->stream, &to, in, end);
		if (ZSTD_isError(left))
			return EIO;
		p->used = to.pos;
		if (p->used == ROOM && write_record(p, out))
			return out->failed;
	} while (end == ZSTD_e_continue ? in->pos < in->size : left > 0);
	return 0;
}

/* Flushed so often that no compressed record holds more than PD_PRESSED_MOST: perf's room for it is that of its buffers. */
int pd_pressor_write(struct pd_pressor *p, struct pd_bytes records, struct pd_out *out)
{
	while (records.size) {
		const size_t room = PD_PRESSED_MOST - p->unflushed;
		const size_t n = records.size < room ? records.size : room;
		ZSTD_inBuffer in = { records.data, n, 0 };
		int failed = press(p, &in, ZSTD_e_continue, out);

		if (failed)
			return failed;
		p->taken += n;
		p->unflushed += n;
		if (p->unflushed == PD_PRESSED_MOST && (failed = pd_pressor_flush(p, out)))
			return failed;
		records.data += n;
		records.size -= n;
	}
	return 0;
}

int pd_pressor_flush(struct pd_pressor *p, struct pd_out *out)
{
	ZSTD_inBuffer nothing = { NULL, 0, 0 };
	int failed;

	if (!p->unflushed)
		return 0;
	p->unflushed = 0;
	failed = press(p, &nothing, ZSTD_e_flush, out);
	return failed ? failed : write_record(p, out);
}

void pd_pressor_sizes(const struct pd_pressor *p, uint64_t *in, uint64_t *out)
{
	*in = p->taken;
	*out = p->made;
}
