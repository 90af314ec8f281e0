/* parquet_column.h - the pages of a column in a row group. */
#ifndef PC_PARQUET_COLUMN_H
#define PC_PARQUET_COLUMN_H

#include "encoding/thrift.h"
#include "parquet/parquet.h"

/* Writes the pages of a column, and its ColumnChunk as an item of `t`. */
void pc_parquet_column(struct pc_parquet *p, const struct pc_array *a, struct pc_thrift *t);

/* Returns the physical type of the column, or of the items of a list. */
int pc_parquet_type(enum pc_type of);

/* Writes bytes of the file. Returns p->error. */
int pc_parquet_write(struct pc_parquet *p, const void *bytes, size_t n);

#endif
