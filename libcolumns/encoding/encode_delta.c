/* encode_delta.c - Parquet's DELTA_BINARY_PACKED, in whole bytes.
 *
 * The format lets each block have a least difference of its own, and each miniblock a width of its
 * own. Here all have the same, and the width is a number of bytes: equal differences are equal
 * bytes everywhere. So zstd, which compresses the page afterwards, finds what repeats: stacks that
 * end alike. Lists of frames become a third smaller than with the least widths. */
#include "encoding/encode.h"

#include <string.h>

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };

struct differences {
	const int64_t *values;	/* of n + 1 numbers */
	size_t n, width;	/* width: of the numbers in bytes */
	int64_t least;
	size_t bytes;		/* of difference - least */
};

static int64_t difference(const struct differences *d, size_t i)
{
	const uint64_t value = (uint64_t)d->values[i + 1] - (uint64_t)d->values[i];

	return d->width == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

static void measure(struct differences *d)
{
	int64_t least = INT64_MAX, most = INT64_MIN;

	for (size_t i = 0; i < d->n; i++) {
		const int64_t value = difference(d, i);

		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	d->least = d->n ? least : 0;
	d->bytes = d->n ? (pc_bits((uint64_t)most - (uint64_t)least) + 7) / 8 : 0;
}

/* Puts the block of difference `from`. Miniblocks without values are left out, the last one is
 * filled with zeros. */
static void put_block(struct pd_buf *to, const struct differences *d, size_t from)
{
	const size_t left = d->n - from, n = left < BLOCK ? left : BLOCK;
	const size_t filled = (n + MINIBLOCK - 1) / MINIBLOCK * MINIBLOCK;
	uint8_t *p;

	pc_put_varint(to, pc_zigzag(d->least));
	for (size_t i = 0; i < MINIBLOCKS; i++)
		pc_put_byte(to, 8 * (unsigned int)d->bytes);
	p = pd_buf_reserve(to, filled * d->bytes + sizeof(uint64_t));
	if (!p)
		return;
	for (size_t i = 0; i < n; i++, p += d->bytes)
		pc_store_wide(p, (uint64_t)difference(d, from + i) - (uint64_t)d->least);
	memset(p, 0, (filled - n) * d->bytes);
	to->size += filled * d->bytes;
}

void pc_encode_delta(struct pd_buf *to, const int64_t *values, size_t n, size_t width)
{
	struct differences d = { .values = values, .n = n ? n - 1 : 0, .width = width };

	measure(&d);
	pc_put_varint(to, BLOCK);
	pc_put_varint(to, MINIBLOCKS);
	pc_put_varint(to, n);
	pc_put_varint(to, pc_zigzag(n ? values[0] : 0));
	for (size_t i = 0; i < d.n; i += BLOCK)
		put_block(to, &d, i);
}
