/* encode_delta.c - Parquet's DELTA_BINARY_PACKED: each block has a least difference of its own, and
 * each miniblock a width. */
#include "encoding/encode.h"

#include <string.h>

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };
enum { MOST_PACKED = 32 };	/* bits; more are whole bytes */

/* The differences of up to BLOCK numbers to those before them. */
struct block {
	size_t n;
	int64_t least;
	uint64_t rest[BLOCK];		/* difference - least; 0 after the last */
	uint8_t bits[MINIBLOCKS];	/* of each rest; 0 for a miniblock without any */
};

static void subtract(struct block *b, const int64_t *values, size_t width)
{
	for (size_t i = 0; i < b->n; i++)
		b->rest[i] = (uint64_t)values[i + 1] - (uint64_t)values[i];
	if (width == 4)
		for (size_t i = 0; i < b->n; i++)
			b->rest[i] = (uint64_t)(int32_t)(uint32_t)b->rest[i];
	b->least = b->n ? INT64_MAX : 0;
	for (size_t i = 0; i < b->n; i++)
		b->least = (int64_t)b->rest[i] < b->least ? (int64_t)b->rest[i] : b->least;
	for (size_t i = 0; i < b->n; i++)
		b->rest[i] -= (uint64_t)b->least;
}

/* Makes the block of the numbers after values[0]; left: how many there are. */
static void make_block(struct block *b, const int64_t *values, size_t left, size_t width)
{
	b->n = left < BLOCK ? left : BLOCK;
	subtract(b, values, width);
	memset(b->rest + b->n, 0, (BLOCK - b->n) * sizeof(*b->rest));
	for (size_t i = 0; i < MINIBLOCKS; i++) {
		uint64_t any = 0;

		for (size_t j = 0; j < MINIBLOCK; j++)
			any |= b->rest[i * MINIBLOCK + j];
		b->bits[i] = (uint8_t)pc_bits(any);
		if (b->bits[i] > MOST_PACKED)
			b->bits[i] = (uint8_t)((b->bits[i] + 7) / 8 * 8);
	}
}

static void put_wide(struct pd_buf *to, const uint64_t *rest, size_t bytes)
{
	uint8_t *p = pd_buf_reserve(to, MINIBLOCK * bytes + sizeof(uint64_t));

	if (!p)
		return;
	for (size_t i = 0; i < MINIBLOCK; i++)
		pc_store_wide(p + i * bytes, rest[i]);
	to->size += MINIBLOCK * bytes;
}

/* Puts a block. Miniblocks without numbers are left out, the last one is filled with zeros. */
static void put_block(struct pd_buf *to, const struct block *b)
{
	pc_put_varint(to, pc_zigzag(b->least));
	pd_buf_append(to, b->bits, MINIBLOCKS);
	for (size_t i = 0; i * MINIBLOCK < b->n; i++)
		if (b->bits[i] % 8 == 0)
			put_wide(to, b->rest + i * MINIBLOCK, b->bits[i] / 8);
		else
			pc_pack_bits(to, b->rest + i * MINIBLOCK, MINIBLOCK, b->bits[i]);
}

static void put_header(struct pd_buf *to, const int64_t *values, size_t n)
{
	pc_put_varint(to, BLOCK);
	pc_put_varint(to, MINIBLOCKS);
	pc_put_varint(to, n);
	pc_put_varint(to, pc_zigzag(n ? values[0] : 0));
}

void pc_encode_delta(struct pd_buf *to, const int64_t *values, size_t n, size_t width)
{
	struct block b;

	put_header(to, values, n);
	for (size_t i = 1; i < n; i += BLOCK) {
		make_block(&b, values + i - 1, n - i, width);
		put_block(to, &b);
	}
}

size_t pc_delta_size(const int64_t *values, size_t n, size_t width)
{
	struct block b;
	size_t size = 0;

	for (size_t i = 1; i < n; i += BLOCK) {
		make_block(&b, values + i - 1, n - i, width);
		for (size_t j = 0; j < MINIBLOCKS; j++)
			size += MINIBLOCK / 8 * b.bits[j];
	}
	return size;
}

/* --- in whole bytes --- */

/* Returns the least difference of all blocks, and how many bytes the others need beyond it. */
static int64_t find_least(const int64_t *values, size_t n, size_t width, size_t *bytes)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	struct block b;

	for (size_t i = 1; i < n; i += BLOCK) {
		uint64_t largest = 0;

		make_block(&b, values + i - 1, n - i, width);
		for (size_t j = 0; j < b.n; j++)
			largest = b.rest[j] > largest ? b.rest[j] : largest;
		least = b.least < least ? b.least : least;
		largest += (uint64_t)b.least;
		most = (int64_t)largest > most ? (int64_t)largest : most;
	}
	*bytes = n > 1 ? (pc_bits((uint64_t)most - (uint64_t)least) + 7) / 8 : 0;
	return least;
}

void pc_encode_delta_bytes(struct pd_buf *to, const int64_t *values, size_t n, size_t width)
{
	struct block b;
	size_t bytes;
	const int64_t least = find_least(values, n, width, &bytes);

	put_header(to, values, n);
	for (size_t i = 1; i < n; i += BLOCK) {
		make_block(&b, values + i - 1, n - i, width);
		for (size_t j = 0; j < b.n; j++)
			b.rest[j] += (uint64_t)b.least - (uint64_t)least;
		b.least = least;
		memset(b.bits, (int)(8 * bytes), sizeof(b.bits));
		put_block(to, &b);
	}
}
