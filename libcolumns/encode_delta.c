/* encode_delta.c - Parquet's DELTA_BINARY_PACKED. */
#include "encode.h"

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };

static int64_t difference(int64_t a, int64_t b, size_t width)
{
	const uint64_t d = (uint64_t)a - (uint64_t)b;

	return width == 4 ? (int32_t)(uint32_t)d : (int64_t)d;
}

static unsigned int bits_of(const uint64_t *values)
{
	uint64_t all = 0;

	for (size_t i = 0; i < MINIBLOCK; i++)
		all |= values[i];
	return pc_bits(all);
}

/* Puts n differences, at most BLOCK. */
static void put_block(struct pd_buf *to, const int64_t *values, size_t n, size_t width)
{
	const uint64_t mask = width == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t rest[BLOCK] = { 0 };
	unsigned int bits[MINIBLOCKS];
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		const int64_t d = difference(values[i + 1], values[i], width);

		least = d < least ? d : least;
	}
	for (size_t i = 0; i < n; i++)
		rest[i] = ((uint64_t)difference(values[i + 1], values[i], width) -
			   (uint64_t)least) & mask;
	pc_put_varint(to, pc_zigzag(least));
	for (size_t i = 0; i < MINIBLOCKS; i++) {
		bits[i] = bits_of(rest + i * MINIBLOCK);
		pc_put_byte(to, bits[i]);
	}
	/* Miniblocks without values are left out. */
	for (size_t i = 0; i < MINIBLOCKS && i * MINIBLOCK < n; i++)
		pc_pack_bits(to, rest + i * MINIBLOCK, MINIBLOCK, bits[i]);
}

void pc_encode_delta(struct pd_buf *to, const int64_t *values, size_t n, size_t width)
{
	pc_put_varint(to, BLOCK);
	pc_put_varint(to, MINIBLOCKS);
	pc_put_varint(to, n);
	pc_put_varint(to, pc_zigzag(n ? values[0] : 0));
	for (size_t i = 0; i + 1 < n; i += BLOCK)
		put_block(to, values + i, n - 1 - i < BLOCK ? n - 1 - i : BLOCK, width);
}
