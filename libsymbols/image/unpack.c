/* unpack.c - files that are compressed as a whole: see unpack.h. */
#include "image/unpack.h"

#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define STEP (256u << 10)
#define XZ_MEMORY (64u << 20)
#define ZSTD_WINDOW_BITS 27
#define ZSTD_LEAST_BITS 10
#define GZIP_WINDOW_BITS (15 + 16)	/* with its header */

/* Gives the decoder the memory that it asks for, which depends on the input. *charged is what it
 * has. */
static lzma_ret give_memory(lzma_stream *z, struct pd_budget *budget, uint64_t *charged)
{
	const uint64_t needed = lzma_memusage(z);

	if (needed > XZ_MEMORY || needed <= *charged ||
	    !pd_budget_charge(budget, needed - *charged))
		return LZMA_MEMLIMIT_ERROR;
	*charged = needed;
	return lzma_memlimit_set(z, needed);
}

static enum ps_status unpack_xz(struct pd_bytes in, struct pd_buf *out)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_stream_decoder(&z, 1, LZMA_CONCATENATED);
	uint64_t charged = 0;
	uint8_t *room = NULL;

	z.next_in = in.data;
	z.avail_in = in.size;
	while (ret == LZMA_OK && (room = pd_buf_reserve(out, STEP))) {
		z.next_out = room;
		z.avail_out = STEP;
		ret = lzma_code(&z, LZMA_FINISH);
		out->size += STEP - z.avail_out;
		if (ret == LZMA_MEMLIMIT_ERROR)
			ret = give_memory(&z, out->budget, &charged);
	}
	lzma_end(&z);
	pd_budget_give_back(out->budget, charged);
	if (ret == LZMA_STREAM_END)
		return PS_OK;
	return !room || ret == LZMA_MEMLIMIT_ERROR ? PS_OVER_LIMIT : PS_BAD_FILE;
}

/* Charges the largest window for which there is memory, and as much for the file. Returns its
 * bits, or 0. */
static int charge_window(struct pd_budget *budget)
{
	int bits = ZSTD_WINDOW_BITS;

	while (bits > ZSTD_LEAST_BITS && !pd_budget_has_room(budget, 2ull << bits))
		bits--;
	if (!pd_budget_charge(budget, 2ull << bits))
		return 0;
	pd_budget_give_back(budget, 1ull << bits);
	return bits;
}

static enum ps_status unpack_zstd(struct pd_bytes in, struct pd_buf *out)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	const int bits = charge_window(out->budget);
	ZSTD_inBuffer from = { in.data, in.size, 0 };
	uint8_t *room = NULL;
	size_t more = 1;

	if (z && bits)
		ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, bits);
	while (z && bits && more && !ZSTD_isError(more) && (room = pd_buf_reserve(out, STEP))) {
		ZSTD_outBuffer to = { room, STEP, 0 };

		more = ZSTD_decompressStream(z, &to, &from);
		out->size += to.pos;
		if (from.pos == from.size && to.pos < to.size)
			break;
	}
	ZSTD_freeDStream(z);
	pd_budget_give_back(out->budget, bits ? 1ull << bits : 0);
	if (!room || ZSTD_getErrorCode(more) == ZSTD_error_frameParameter_windowTooLarge)
		return PS_OVER_LIMIT;
	return more ? PS_BAD_FILE : PS_OK;
}

static enum ps_status unpack_gzip(struct pd_bytes in, struct pd_buf *out)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)in.data, .avail_in = (uInt)in.size };
	uint8_t *room = NULL;
	int ret;

	if (in.size > UINT32_MAX || inflateInit2(&z, GZIP_WINDOW_BITS) != Z_OK)
		return PS_OVER_LIMIT;
	do {
		room = pd_buf_reserve(out, STEP);
		if (!room)
			break;
		z.next_out = room;
		z.avail_out = STEP;
		ret = inflate(&z, Z_NO_FLUSH);
		out->size += STEP - z.avail_out;
	} while (ret == Z_OK);
	inflateEnd(&z);
	if (!room)
		return PS_OVER_LIMIT;
	return ret == Z_STREAM_END ? PS_OK : PS_BAD_FILE;
}

enum ps_status ps_unpack(struct pd_bytes in, struct pd_buf *out)
{
	static const struct {
		const char *magic;
		size_t size;
		enum ps_status (*unpack)(struct pd_bytes in, struct pd_buf *out);
	} kinds[] = {
		{ "\xfd" "7zXZ", 6, unpack_xz },
		{ "\x28\xb5\x2f\xfd", 4, unpack_zstd },
		{ "\x1f\x8b", 2, unpack_gzip },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (in.size > kinds[i].size && !memcmp(in.data, kinds[i].magic, kinds[i].size))
			return kinds[i].unpack(in, out);
	return PS_NOT_ELF;
}
