/* compressor.c - compress records into COMPRESSED or COMPRESSED2 records. */
#include "output/compressor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "layout/container.h"

#define MAX_PAYLOAD 65000	/* with header and padding below the 16-bit record size */
#define ALWAYS_FITS 64000	/* input whose compressed form never exceeds MAX_PAYLOAD */

struct pd_compressor {
	ZSTD_CCtx *zstd;
	enum pd_compressed_as as;
	enum pd_swap swap;
	uint64_t taken, made;
	bool open;		/* the frame continues in the next record */
	size_t most;		/* bytes of records per frame: what lately fit into MAX_PAYLOAD */
	size_t room;		/* compressed bound of PD_COMPRESSED_MOST */
	uint8_t *payload;
	size_t used;
	uint8_t gathered[PD_COMPRESSED_MOST];
};

/* zstd's own value for level 1 and large inputs; faster for the short frames here, and as small. */
#define LEVEL1_MIN_MATCH 7

static bool set_level(ZSTD_CCtx *zstd, int level)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level)) &&
	       (level != 1 ||
		!ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, LEVEL1_MIN_MATCH)));
}

struct pd_compressor *pd_compressor_new(int level, enum pd_compressed_as as, enum pd_swap swap)
{
	struct pd_compressor *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->as = as;
	p->swap = swap;
	p->most = PD_COMPRESSED_MOST;
	p->room = ZSTD_compressBound(PD_COMPRESSED_MOST);
	p->payload = malloc(p->room);
	p->zstd = ZSTD_createCCtx();
	if (!p->payload || !p->zstd || !set_level(p->zstd, level)) {
		pd_compressor_free(p);
		return NULL;
	}
	return p;
}

void pd_compressor_free(struct pd_compressor *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	free(p->payload);
	free(p);
}

static int write_record(struct pd_compressor *p, struct pd_bytes payload, struct pd_out *out)
{
	const bool second = p->as == PD_AS_COMPRESSED2;
	const size_t head = PD_RECORD_HEADER_SIZE + (second ? sizeof(uint64_t) : 0);
	const size_t pad = second ? -(head + payload.size) & 7 : 0;
	const struct pd_record_header h = {
		.type = second ? PD_RECORD_COMPRESSED2 : PD_RECORD_COMPRESSED,
		.size = (uint16_t)(head + payload.size + pad),
	};
	uint8_t header[2 * PD_RECORD_HEADER_SIZE];

	pd_record_header_store(header, h, p->swap);
	if (second)
		pd_store(header + PD_RECORD_HEADER_SIZE, payload.size, 8, p->swap);
	p->made += head + payload.size + pad;
	pd_out_append(out, header, head);
	pd_out_append(out, payload.data, payload.size);
	return pd_out_append(out, (const uint8_t[8]){ 0 }, pad);
}

/* Compresses as much as fits into one record. A large input is a frame of its own: zstd reads it in
 * place, and readers need no window. Small inputs share a frame, since a small frame of its own
 * hardly shrinks. */
static int compress_record(struct pd_compressor *p, struct pd_bytes *records, struct pd_out *out)
{
	const size_t most = p->open ? ALWAYS_FITS : p->most;
	const size_t n = records->size < most ? records->size : most;
	ZSTD_inBuffer in = { records->data, n, 0 };
	ZSTD_outBuffer to = { p->payload, p->room, 0 };

	if (ZSTD_compressStream2(p->zstd, &to, &in, n < ALWAYS_FITS ? ZSTD_e_flush : ZSTD_e_end))
		return EIO;
	p->open = n < ALWAYS_FITS;
	if (to.pos > MAX_PAYLOAD) {
		p->most = n / 2 > ALWAYS_FITS ? n / 2 : ALWAYS_FITS;
		return 0;
	}
	if (to.pos < MAX_PAYLOAD / 4 && p->most < PD_COMPRESSED_MOST)
		p->most *= 2;
	p->taken += n;
	records->data += n;
	records->size -= n;
	return write_record(p, (struct pd_bytes){ p->payload, to.pos }, out);
}

static int compress_and_write(struct pd_compressor *p, struct pd_bytes records, struct pd_out *out)
{
	int err = 0;

	while (records.size && !err)
		err = compress_record(p, &records, out);
	return err;
}

int pd_compressor_add(struct pd_compressor *p, struct pd_bytes records, struct pd_out *out)
{
	int err = pd_compressor_flush(p, out);

	return err ? err : compress_and_write(p, records, out);
}

int pd_compressor_write(struct pd_compressor *p, struct pd_bytes records, struct pd_out *out)
{
	int err = 0;

	while (records.size && !err) {
		const size_t room = PD_COMPRESSED_MOST - p->used;
		const size_t n = records.size < room ? records.size : room;

		if (n == PD_COMPRESSED_MOST) {	/* a full input needs no copy */
			err = compress_and_write(p, (struct pd_bytes){ records.data, n }, out);
			records.data += n;
			records.size -= n;
			continue;
		}
		memcpy(p->gathered + p->used, records.data, n);
		p->used += n;
		records.data += n;
		records.size -= n;
		if (n == room)
			err = pd_compressor_flush(p, out);
	}
	return err;
}

int pd_compressor_flush(struct pd_compressor *p, struct pd_out *out)
{
	const struct pd_bytes records = { p->gathered, p->used };

	p->used = 0;
	return records.size ? compress_and_write(p, records, out) : 0;
}

void pd_compressor_sizes(const struct pd_compressor *p, uint64_t *in, uint64_t *out)
{
	*in = p->taken;
	*out = p->made;
}
