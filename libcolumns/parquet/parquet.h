/* parquet.h - one Parquet file: row groups from batches, and the footer. */
#ifndef PC_PARQUET_H
#define PC_PARQUET_H

#include <zstd.h>

#include "parquet/group_metadata.h"
#include "parquet/row_order.h"
#include "tables/batch.h"

/* Must be zero-initialized, except for the members up to `compressor`. */
struct pc_parquet {
	struct pd_output out;
	struct pd_budget *budget;
	const struct pc_table *table;
	struct pc_selection selection;
	enum pc_unsigned uint64;
	ZSTD_CCtx *compressor;		/* shared by the files of a directory */
	uint64_t written;		/* bytes */
	uint64_t rows;
	size_t nr_groups;
	struct pc_group_metadata groups;
	struct pd_buf page, packed, values;	/* of the page that is made */
	struct pc_row_order order;
	struct pd_buf numbers, indices;	/* of the column's dictionary; uint32_t: of its values */
	int error;			/* what `write` returned if not 0; -1: no memory */
};

/* These return p->error. */
int pc_parquet_begin(struct pc_parquet *p);
int pc_parquet_group(struct pc_parquet *p, struct pc_batch *b);	/* puts its rows in order */
int pc_parquet_end(struct pc_parquet *p);
void pc_parquet_free(struct pc_parquet *p);

#endif
