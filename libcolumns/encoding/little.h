/* little.h - numbers in little-endian order, as Parquet and flatbuffers have them. */
#ifndef PC_LITTLE_H
#define PC_LITTLE_H

#include <endian.h>
#include <string.h>

#include "base/buf.h"

static inline void pc_store_little(uint8_t *p, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

/* Stores all eight bytes, of which those of the next number may overwrite the upper ones. */
static inline void pc_store_wide(uint8_t *p, uint64_t value)
{
	const uint64_t little = htole64(value);

	memcpy(p, &little, sizeof(little));
}

static inline void pc_put_little(struct pd_buf *b, uint64_t value, size_t width)
{
	uint8_t bytes[8];

	pc_store_little(bytes, value, width);
	pd_buf_append(b, bytes, width);
}

static inline void pc_put_byte(struct pd_buf *b, unsigned int byte)
{
	pc_put_little(b, byte, 1);
}

/* ULEB128. */
static inline void pc_put_varint(struct pd_buf *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		pc_put_byte(b, (uint8_t)value | 0x80);
	pc_put_byte(b, (uint8_t)value);
}

static inline uint64_t pc_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline unsigned int pc_bits(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

#endif
