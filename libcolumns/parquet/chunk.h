/* chunk.h - a column in a row group, while its pages are written: its numbers, their encoding. */
#ifndef PC_CHUNK_H
#define PC_CHUNK_H

#include "encoding/encode.h"
#include "parquet/parquet.h"

/* As parquet.thrift numbers them. */
enum pc_encoding {
	PC_PLAIN = 0,
	PC_RLE = 3,
	PC_DELTA_BINARY_PACKED = 5,
	PC_RLE_DICTIONARY = 8,
};

/* Must be zero-initialized, except for the members up to `index.budget`. */
struct pc_chunk {
	struct pc_parquet *p;
	const struct pc_array *a;
	const struct pc_array *rows;	/* pc_rows_of(a) */
	bool is_list;
	uint64_t start;
	struct pc_index index;		/* of the numbers in the dictionary */
	enum pc_encoding encoding;	/* of the values */
	pc_encode_numbers_fn encode;	/* of numbers without a dictionary */
	size_t nr_values;		/* with NULLs and empty lists */
	size_t dictionary_size;
	size_t next_index;		/* in p->indices, of the next page's first */
	uint64_t data_start, unpacked;
};

/* Returns the number of the first item of a row, in `values`. */
static inline size_t pc_first_item(const struct pc_chunk *c, size_t row)
{
	return c->is_list ? (size_t)pc_offset_at(c->rows, row) : row;
}

/* Returns an array of the numbers that are not NULL, of n; NULL without memory. Valid until
 * p->values changes. */
const int64_t *pc_numbers_between(struct pc_chunk *c, size_t from, size_t to, size_t *n);

/* Chooses the encoding of the values. A dictionary of numbers is then in p->numbers, and the
 * indices of all values in p->indices. first_page: how many rows it has. */
void pc_choose_encoding(struct pc_chunk *c, size_t first_page);

/* Compresses p->page to p->packed. Returns 0 or -1. */
int pc_compress_page(struct pc_parquet *p);

#endif
