/* feature_bits.c - the bitmap of features in a file's header. */
#include "container/feature_bits.h"

/* The bitmap is an array of longs of the recording machine. If HOSTNAME is not set in 64-bit words
 * but is in 32-bit words, that machine had 32-bit longs. Its size is always 256 bits. */
void pd_feature_bits_read(struct pd_container *c, struct pd_bytes map, bool bits[PD_FEATURE_BITS])
{
	for (uint32_t width = 8; width >= 4; width -= 4) {
		for (size_t i = 0; i < PD_FEATURE_BITS; i++) {
			size_t word = i / (8 * width);

			bits[i] = pd_load(map.data + word * width, width, c->swap) >>
					  (i % (8 * width)) &
				  1;
		}
		c->info.long_size = width;
		if (bits[PD_FEATURE_HOSTNAME] || c->info.byte_order == PD_LITTLE_ENDIAN)
			break;
	}
	if (!bits[PD_FEATURE_HOSTNAME] && c->info.long_size == 4) {
		c->info.long_size = 8;
		for (size_t i = 0; i < PD_FEATURE_BITS; i++)
			bits[i] = pd_load64(map.data + i / 64 * 8, c->swap) >> (i % 64) & 1;
	} else if (c->info.byte_order == PD_LITTLE_ENDIAN) {
		c->info.long_size = 8;
	}
}
