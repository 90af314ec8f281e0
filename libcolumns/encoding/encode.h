/* encode.h - the encodings of Parquet's pages.
 *
 * Source: Encodings.md in the parquet-format repository. */
#ifndef PC_ENCODE_H
#define PC_ENCODE_H

#include "encoding/little.h"

/* The hybrid of runs and bit-packed groups, for numbers below 2^bits; without its length. */
void pc_encode_rle(struct pd_buf *to, const uint32_t *values, size_t n, unsigned int bits);

/* DELTA_BINARY_PACKED; width: of the numbers in bytes, 4 or 8. */
void pc_encode_delta(struct pd_buf *to, const int64_t *values, size_t n, size_t width);

/* Appends numbers below 2^bits, of at most 32 bits; the last byte is filled with zeros. */
void pc_pack_bits(struct pd_buf *to, const uint64_t *values, size_t n, unsigned int bits);

#endif
