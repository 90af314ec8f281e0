/* rows.c - the start and end of a row, and of a batch. */
#include "columns_internal.h"

#include <stdio.h>

enum { ROWS_A_CHECK = 64 };	/* of a batch's memory and size */

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
	pc_batch_end(b);
	if (pc_batch_failed(b))
		c->refused = -1;
	if (!c->flush || c->refused)
		return;
	c->refused = c->flush(c->ctx, b);
	pc_batch_clear(b);
}

void pc_finish_row(struct pc_columns *c, struct pc_batch *b)
{
	pc_end_row(b);
	if (b->rows % ROWS_A_CHECK && b->rows < c->max_rows)
		return;
	if (pc_batch_failed(b))
		c->refused = -1;
	else if (b->rows >= c->max_rows || pc_batch_size(b) >= c->max_bytes)
		pc_flush_batch(c, b);
}

void pc_set_item(struct pc_batch *b, unsigned int column, const struct pd_item *item)
{
	char text[24];

	if (!item)
		return;
	if (pc_has_texts(b->arrays[column].column->type)) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)item->number);
		pc_set_text(b, column, item->word ? item->word : text);
	} else if (b->arrays[column].column->type == PC_INT64) {
		pc_set_count(b, column, item->number);
	} else {
		pc_set_int(b, column, (int64_t)item->number);
	}
}
