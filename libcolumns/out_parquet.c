/* out_parquet.c - all tables as Parquet files, in one pass. */
#include <string.h>

#include "columns_internal.h"
#include "parquet.h"

struct directory {
	struct pc_parquet files[PC_NR_TABLES];
};

static int write_group(void *ctx, struct pc_batch *b)
{
	struct directory *d = ctx;

	for (size_t i = 0; i < PC_NR_TABLES; i++)
		if (d->files[i].table == b->table)
			return pc_parquet_group(&d->files[i], b);
	return 0;
}

static int begin_files(struct pc_columns *c, struct directory *d, const struct pd_output *outputs,
		       ZSTD_CCtx *compressor)
{
	int error = 0;

	for (size_t i = 0; i < PC_NR_TABLES && !error; i++) {
		if (!outputs[i].write || !c->batches[i].table)
			continue;
		d->files[i] = (struct pc_parquet){
			.out = outputs[i], .budget = &c->budget, .table = pc_table_at(i),
			.selection = c->selection, .uint64 = c->o.uint64,
			.compressor = compressor };
		error = pc_parquet_begin(&d->files[i]);
	}
	return error;
}

/* The file of `files` ends last: whoever finds it whole has all of them. */
static int end_files(struct directory *d)
{
	int error = 0;

	for (size_t i = PC_NR_TABLES; i--;) {
		if (!error && d->files[i].table)
			error = pc_parquet_end(&d->files[i]);
		pc_parquet_free(&d->files[i]);
	}
	return error;
}

int pc_write_parquet(struct pc_columns *c, struct pd_reader *r, const struct pd_output *outputs,
		     struct pd_error *e)
{
	struct directory d = { 0 };
	ZSTD_CCtx *compressor = ZSTD_createCCtx();
	int ret, ended;

	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	if (!compressor)
		return -1;
	ret = begin_files(c, &d, outputs, compressor);
	if (!ret && !(ret = pc_begin(c, r, write_group, &d, e)))
		ret = pc_run(c, e);
	ended = end_files(&d);
	if (ended == -1)
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	ZSTD_freeCCtx(compressor);
	return ret ? ret : ended;
}
