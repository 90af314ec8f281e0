/* out_parquet.c - all tables as Parquet files, in one pass. */
#include "base/argument.h"
#include "parquet/group_writer.h"
#include "pass/columns_internal.h"

static int add_batch(void *ctx, struct pc_batch *b)
{
	return pc_group_writer_add(ctx, b);
}

int pc_write_parquet(struct pc_columns *c, struct pd_reader *r, const struct pd_output *outputs,
		     struct pd_error *e)
{
	struct pc_group_writer_options o = { .outputs = outputs };
	struct pc_group_writer w;
	struct pd_error unused;
	int ret, ended;

	e = pd_error_or(e, &unused);
	if (!c || !r || !outputs || c->reader)
		return pd_refuse(e, "no tables that were not written, no reader or no outputs");
	o.batches = c->batches;
	o.selection = c->selection;
	o.uint64 = c->o.uint64;
	o.threads = c->o.threads;
	o.budget = &c->budget;
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
