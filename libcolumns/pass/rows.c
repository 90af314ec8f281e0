/* rows.c - the start and end of a row, and of a batch. */
#include "pass/columns_internal.h"

#include <stdio.h>

bool pc_keeps(struct pc_columns *c, const struct pd_fields *item)
{
	return !c->o.filter ||
	       pd_filter_keeps(c->o.filter, pd_reader_record(c->reader, item)) == 1;
}

struct pc_batch *pc_start_row(struct pc_columns *c, enum pc_table_number table)
{
	struct pc_batch *b = &c->batches[table];

	if (!b->table || c->refused)
		return NULL;
	pc_set_name(b, PC_FILE_ID, c->o.file_id);
	return b;
}

struct pc_batch *pc_start_rows(struct pc_columns *c, enum pc_table_number table, size_t n,
			       size_t *rows)
{
	struct pc_batch *b = &c->batches[table];
	size_t left;

	if (!b->table || c->refused)
		return NULL;
	left = c->rows_a_check - b->rows % c->rows_a_check;
	*rows = n < left ? n : left;
	return b;
}

/* Keeps the first failure. Another thread that was writing a batch meanwhile must not replace it by
 * its success: a batch that found no memory is nowhere else remembered. (No test can hold a thread
 * there.) */
void pc_note_refusal(struct pc_columns *c, int refused)
{
	int none = 0;

	if (refused)
		atomic_compare_exchange_strong(&c->refused, &none, refused);
}

/* Returns whether a batch is of none of the tables that samples have rows in, which another thread
 * may make. */
static bool is_side(const struct pc_columns *c, const struct pc_batch *b)
{
	const ptrdiff_t table = b - c->batches;

	return table != PC_SAMPLES && table != PC_STACKS && table != PC_FRAMES;
}

static void count_side(struct pc_columns *c, struct pc_batch *b, size_t size)
{
	if (!is_side(c, b))
		return;
	c->side_size += size - b->counted;
	b->counted = size;
}

void pc_flush_batch(struct pc_columns *c, struct pc_batch *b)
{
	count_side(c, b, 0);
	pc_batch_end(b);
	if (pc_batch_failed(b))
		c->refused = -1;
	if (b->is_for_counts) {
		pc_batch_clear(b);
		return;
	}
	if (!c->flush || c->refused)
		return;
	pc_note_refusal(c, c->flush(c->ctx, b));
	pc_batch_clear(b);
}

void pc_finish_row(struct pc_columns *c, struct pc_batch *b)
{
	pc_finish_rows(c, b, 1);
}

void pc_finish_rows(struct pc_columns *c, struct pc_batch *b, size_t rows)
{
	size_t size;

	b->rows += rows;
	if (b->rows % c->rows_a_check && b->rows < c->max_rows)
		return;
	if (pc_batch_failed(b)) {
		c->refused = -1;
		return;
	}
	size = pc_batch_size(b);
	count_side(c, b, size);
	if (b->rows >= c->max_rows || size >= c->max_bytes)
		pc_flush_batch(c, b);
}

void pc_limit_side(struct pc_columns *c)
{
	struct pc_batch *largest = c->batches;

	if (c->side_size < 2 * c->max_bytes)
		return;
	for (size_t i = 1; i < PC_NR_TABLES; i++)
		if (c->batches[i].counted > largest->counted)
			largest = &c->batches[i];
	pc_flush_batch(c, largest);
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
