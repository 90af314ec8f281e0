/* encode_rle.c - Parquet's hybrid of runs and bit-packed groups. */
#include "encoding/encode.h"

enum { GROUP = 8, MIN_RUN = 16, MAX_GROUPS = 504 };

void pc_pack_bits(struct pd_buf *to, const uint64_t *values, size_t n, unsigned int bits)
{
	const size_t size = (n * bits + 7) / 8;
	uint8_t *p = pd_buf_reserve(to, size + sizeof(uint64_t));
	uint64_t packed = 0;
	unsigned int used = 0;		/* bits of `packed`, below 8 */

	if (!p)
		return;
	for (size_t i = 0; i < n; i++) {
		packed |= values[i] << used;
		pc_store_wide(p, packed);
		used += bits;
		p += used / 8;
		packed >>= used / 8 * 8;
		used %= 8;
	}
	to->size += size;
}

static size_t run_length(const uint32_t *values, size_t n)
{
	size_t run = 1;

	while (run < n && values[run] == values[0])
		run++;
	return run;
}

/* Groups of 8; the last one is filled with zeros. */
static void put_groups(struct pd_buf *to, const uint32_t *values, size_t n, unsigned int bits)
{
	const size_t groups = (n + GROUP - 1) / GROUP;

	pc_put_varint(to, groups << 1 | 1);
	for (size_t i = 0; i < groups; i++) {
		uint64_t group[GROUP] = { 0 };

		for (size_t j = 0; j < GROUP && i * GROUP + j < n; j++)
			group[j] = values[i * GROUP + j];
		pc_pack_bits(to, group, GROUP, bits);
	}
}

/* Returns how many values stand before the next long run, in whole groups. */
static size_t packed_length(const uint32_t *values, size_t n)
{
	size_t at = 0;

	while (at < n && at < (size_t)MAX_GROUPS * GROUP) {
		if (run_length(values + at, n - at < MIN_RUN ? n - at : MIN_RUN) == MIN_RUN)
			return at;
		at += GROUP;
	}
	return at < n ? at : n;
}

void pc_encode_run(struct pd_buf *to, uint32_t value, size_t n, unsigned int bits)
{
	pc_put_varint(to, n << 1);
	pc_put_little(to, value, (bits + 7) / 8);
}

void pc_encode_groups(struct pd_buf *to, const uint32_t *values, size_t n, unsigned int bits)
{
	for (size_t i = 0, part; i < n; i += part) {
		part = n - i < (size_t)MAX_GROUPS * GROUP ? n - i : (size_t)MAX_GROUPS * GROUP;
		put_groups(to, values + i, part, bits);
	}
}

void pc_encode_rle(struct pd_buf *to, const uint32_t *values, size_t n, unsigned int bits)
{
	while (n) {
		size_t done = run_length(values, n);

		if (done >= MIN_RUN || done == n) {
			pc_encode_run(to, values[0], done, bits);
		} else {
			done = packed_length(values, n);
			put_groups(to, values, done, bits);
		}
		values += done;
		n -= done;
	}
}
