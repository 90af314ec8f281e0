/* gzip.c - output that is compressed. */
#include "encoding/gzip.h"

#include <errno.h>
#include <zlib.h>

enum { PART = 1 << 30, GZIP_HEADER = 16, LEVEL = 4 };

struct gzip {
	z_stream z;
	struct pp_out *to;
};

/* Compresses what is in next_in. Returns what the last call of deflate() did. */
static int deflate_all(struct gzip *g, int flush)
{
	uint8_t buffer[1 << 14];
	int ret;

	do {
		g->z.next_out = buffer;
		g->z.avail_out = sizeof(buffer);
		ret = deflate(&g->z, flush);
		pp_put(g->to, (const char *)buffer, sizeof(buffer) - g->z.avail_out);
	} while (ret == Z_OK && !g->z.avail_out);
	return ret;
}

static int write_gzip(void *ctx, const void *data, size_t size)
{
	struct gzip *g = ctx;
	const uint8_t *bytes = data;

	while (size && !g->to->error) {
		const size_t part = size < PART ? size : PART;

		g->z.next_in = (Bytef *)bytes;
		g->z.avail_in = (uInt)part;
		if (deflate_all(g, Z_NO_FLUSH) == Z_STREAM_ERROR)
			return EIO;
		bytes += part;
		size -= part;
	}
	return g->to->error;
}

int pp_write_gzip(struct pp_out *out, int (*write)(struct pp_out *))
{
	struct gzip g = { .to = out };
	struct pp_out plain = { .p = out->p, .o = out->o, .to = { write_gzip, &g } };
	int ret;

	if (deflateInit2(&g.z, LEVEL, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -1;
	ret = write(&plain);
	pp_flush(&plain);
	if (!ret && !plain.error && deflate_all(&g, Z_FINISH) != Z_STREAM_END)
		ret = -1;
	deflateEnd(&g.z);
	return ret ? ret : plain.error;
}
