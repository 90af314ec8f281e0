/* encode.h - the encodings of Parquet's pages.
 *
 * Source: Encodings.md in the parquet-format repository. */
#ifndef PC_ENCODE_H
#define PC_ENCODE_H

#include "encoding/little.h"

typedef void (*pc_encode_fn)(struct pd_buf *to, const uint32_t *values, size_t n,
			     unsigned int bits);

/* The hybrid of runs and bit-packed groups, for numbers below 2^bits; without its length. */
void pc_encode_rle(struct pd_buf *to, const uint32_t *values, size_t n, unsigned int bits);

/* The same of n equal numbers. */
void pc_encode_run(struct pd_buf *to, uint32_t value, size_t n, unsigned int bits);

/* The same as groups alone. */
void pc_encode_groups(struct pd_buf *to, const uint32_t *values, size_t n, unsigned int bits);

/* Appends numbers of `width` bytes, 4 or 8. */
typedef void (*pc_encode_numbers_fn)(struct pd_buf *to, const int64_t *values, size_t n,
				     size_t width);

void pc_encode_plain(struct pd_buf *to, const int64_t *values, size_t n, size_t width);

/* DELTA_BINARY_PACKED, in as few bits as there can be. */
void pc_encode_delta(struct pd_buf *to, const int64_t *values, size_t n, size_t width);
/* Returns about how many bytes that appends. */
size_t pc_delta_size(const int64_t *values, size_t n, size_t width);

/* DELTA_BINARY_PACKED in whole bytes, as many for all: equal differences are equal bytes, so that a
 * compressor finds what repeats. */
void pc_encode_delta_bytes(struct pd_buf *to, const int64_t *values, size_t n, size_t width);

/* Appends numbers below 2^bits, of at most 32 bits; the last byte is filled with zeros. */
void pc_pack_bits(struct pd_buf *to, const uint64_t *values, size_t n, unsigned int bits);

#endif
