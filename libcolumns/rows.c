/* rows.c - the start and end of a row, and of a batch. */
#include "columns_internal.h"

struct pc_batch *pc_start_row(struct pc_columns *c, enum pc_table_number table)
{
	struct pc_batch *b = &c->batches[table];

	if (!b->table || c->refused)
		return NULL;
	pc_set_name(b, PC_FILE_ID, c->o.file_id);
	return b;
}

void pc_flush_batch(struct pc_columns *c, struct pc_batch *b)
{
	if (!c->flush || c->refused)
		return;
	c->refused = c->flush(c->ctx, b);
	pc_batch_clear(b);
}

void pc_finish_row(struct pc_columns *c, struct pc_batch *b)
{
	pc_end_row(b);
	if (b->failed)
		c->refused = -1;
	else if (b->rows >= c->max_rows || (b->rows % 64 == 0 && pc_batch_size(b) >= c->max_bytes))
		pc_flush_batch(c, b);
}
