/* out_parquet.c - all tables as Parquet files, in one pass. */
#include "parquet/group_writer.h"
#include "pass/columns_internal.h"

static int add_batch(void *ctx, struct pc_batch *b)
{
	return pc_group_writer_add(ctx, b);
}

int pc_write_parquet(struct pc_columns *c, struct pd_reader *r, const struct pd_output *outputs,
		     struct pd_error *e)
{
	const struct pc_group_writer_options o = {
		.outputs = outputs, .batches = c->batches, .selection = c->selection,
		.uint64 = c->o.uint64, .threads = c->o.threads, .budget = &c->budget };
	struct pc_group_writer w;
	int ret, ended;

	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	ret = pc_group_writer_begin(&w, &o);
	if (!ret && !(ret = pc_begin(c, r, add_batch, &w, e))) {
		if (w.has_thread)
			pc_queue_samples(c);
		ret = pc_run(c, e);
	}
	ended = pc_group_writer_end(&w);
	if (ended == -1)
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL };
	return ret ? ret : ended;
}
