/* encode_plain.c - Parquet's PLAIN, of numbers. */
#include "encoding/encode.h"

void pc_encode_plain(struct pd_buf *to, const int64_t *values, size_t n, size_t width)
{
	uint8_t *p = pd_buf_reserve(to, n * width + sizeof(uint64_t));

	if (!p)
		return;
	for (size_t i = 0; i < n; i++)
		pc_store_wide(p + i * width, (uint64_t)values[i]);
	to->size += n * width;
}
