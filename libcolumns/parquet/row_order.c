/* row_order.c - rows of a row group by CPU and time: see row_order.h. */
#include "parquet/row_order.h"

#include <string.h>

/* Rows are left as they are where runs of one CPU are as long as this on average: a ring buffer is
 * drained at once, and longer ones make no column smaller. */
enum { LEAST_ROWS = 4096, LONG_RUN = 1024 };
enum { MOST_CPUS = 1024 };	/* that rows are counted for */

/* The columns that rows are ordered by. */
struct keys {
	const int32_t *cpus;
	const int64_t *times;
};

void pc_row_order_init(struct pc_row_order *o, struct pd_budget *budget)
{
	*o = (struct pc_row_order){ .rows.budget = budget, .merged.budget = budget,
				    .values.budget = budget };
}

void pc_row_order_free(struct pc_row_order *o)
{
	pd_buf_free(&o->rows);
	pd_buf_free(&o->merged);
	pd_buf_free(&o->values);
}

/* --- sorting --- */

static bool is_before(const struct keys *k, uint32_t a, uint32_t b)
{
	return k->cpus[a] != k->cpus[b] ? k->cpus[a] < k->cpus[b] : k->times[a] < k->times[b];
}

/* Counts the rows of each CPU, in counts[CPU + 1]. Returns false if there are too many CPUs. */
static bool count_rows(const struct keys *k, size_t n, uint32_t *counts)
{
	for (size_t i = 0; i < n; i++) {
		if ((uint32_t)k->cpus[i] >= MOST_CPUS)
			return false;
		counts[k->cpus[i] + 1]++;
	}
	return true;
}

/* Sets `rows` to all rows: by CPU, if that takes one step. The rows of one
 * CPU are then mostly sorted. */
static void list_rows(const struct keys *k, uint32_t *rows, size_t n)
{
	uint32_t starts[MOST_CPUS + 1] = { 0 };
	const bool is_by_cpu = count_rows(k, n, starts);

	for (size_t i = 0; i < MOST_CPUS; i++)
		starts[i + 1] += starts[i];
	for (size_t i = 0; i < n; i++)
		rows[is_by_cpu ? starts[k->cpus[i]]++ : i] = (uint32_t)i;
}

/* Returns the end of the rows from `from` on that are in order. */
static size_t end_of_run(const struct keys *k, const uint32_t *rows, size_t from, size_t n)
{
	size_t end = from < n ? from + 1 : n;

	while (end < n && !is_before(k, rows[end], rows[end - 1]))
		end++;
	return end;
}

/* Merges two runs, which end at `middle` and `end`. */
static void merge_runs(const struct keys *k, const uint32_t *from, size_t start, size_t middle,
		       size_t end, uint32_t *to)
{
	size_t left = start, right = middle;

	for (size_t i = start; i < end; i++)
		to[i] = right == end ||
			(left < middle && !is_before(k, from[right], from[left])) ?
			from[left++] : from[right++];
}

/* Merges each two runs that follow each other, until there is one. Returns the array that has all
 * rows. */
static const uint32_t *sort_rows(const struct keys *k, uint32_t *rows, uint32_t *spare, size_t n)
{
	while (end_of_run(k, rows, 0, n) < n) {
		uint32_t *sorted = spare;

		for (size_t start = 0, end; start < n; start = end) {
			const size_t middle = end_of_run(k, rows, start, n);

			end = end_of_run(k, rows, middle, n);
			merge_runs(k, rows, start, middle, end, sorted);
		}
		spare = rows;
		rows = sorted;
	}
	return rows;
}

/* --- columns --- */

static void swap_buffers(struct pd_buf *a, struct pd_buf *b)
{
	const struct pd_buf kept = *a;

	*a = *b;
	*b = kept;
}

/* Puts the values of a width, one for each row, into the order of the rows. */
static void order_values(struct pc_row_order *o, struct pd_buf *values, size_t width,
			 const uint32_t *rows, size_t n)
{
	const uint8_t *from = values->data;
	uint8_t *to;

	o->values.size = 0;
	to = pd_buf_reserve(&o->values, n * width);
	if (!to)
		return;
	if (width == 8)
		for (size_t i = 0; i < n; i++)
			memcpy(to + 8 * i, from + 8 * (size_t)rows[i], 8);
	else if (width == 4)
		for (size_t i = 0; i < n; i++)
			memcpy(to + 4 * i, from + 4 * (size_t)rows[i], 4);
	else
		for (size_t i = 0; i < n; i++)
			to[i] = from[rows[i]];
	o->values.size = n * width;
	swap_buffers(&o->values, values);
}

/* The same with the items of lists, or bytes; offsets: where those of each row begin. */
static void order_items(struct pc_row_order *o, struct pd_buf *values, size_t width,
			const int32_t *offsets, const uint32_t *rows, size_t n)
{
	o->values.size = 0;
	for (size_t i = 0; i < n; i++) {
		const size_t start = (size_t)offsets[rows[i]] * width,
			     end = (size_t)offsets[rows[i] + 1] * width;

		pd_buf_append(&o->values, values->data + start, end - start);
	}
	swap_buffers(&o->values, values);
}

static void order_offsets(struct pc_row_order *o, struct pd_buf *offsets, const uint32_t *rows,
			  size_t n)
{
	const int32_t *from = (const int32_t *)(const void *)offsets->data;
	int32_t end = 0;

	o->values.size = 0;
	pd_buf_append(&o->values, &end, sizeof(end));
	for (size_t i = 0; i < n; i++) {
		end += from[rows[i] + 1] - from[rows[i]];
		pd_buf_append(&o->values, &end, sizeof(end));
	}
	swap_buffers(&o->values, offsets);
}

/* Returns whether all rows have the same value, which is none. */
static bool is_empty(const struct pc_array *a)
{
	return a->nulls == a->rows && !pc_has_offsets(a->column->type);
}

static void order_array(struct pc_row_order *o, struct pc_array *a, const uint32_t *rows,
			size_t n)
{
	const struct pc_array *rows_of = pc_rows_of(a);

	if (pc_has_offsets(rows_of->column->type))
		order_items(o, &a->values, a->width,
			    (const int32_t *)(const void *)rows_of->offsets.data, rows, n);
	else if (!is_empty(a))
		order_values(o, &a->values, a->width, rows, n);
	if (a->list)
		return;
	if (a->nulls && a->nulls < a->rows)
		order_values(o, &a->valid, 1, rows, n);
	if (pc_has_offsets(a->column->type))
		order_offsets(o, &a->offsets, rows, n);
}

/* --- batches --- */

/* Sets *k to the columns of a batch. Returns false if it has no such order. */
static bool find_keys(const struct pc_batch *b, struct keys *k)
{
	const bool is_samples = b->table == pc_table_at(PC_SAMPLES);
	const struct pc_array *cpu, *time;

	if (!is_samples && b->table != pc_table_at(PC_SWITCHES))
		return false;
	cpu = &b->arrays[is_samples ? PC_SAMPLES_CPU : PC_SIDE_CPU];
	time = &b->arrays[is_samples ? PC_SAMPLES_TIME : PC_SIDE_TIME];
	k->cpus = (const int32_t *)(const void *)cpu->values.data;
	k->times = (const int64_t *)(const void *)time->values.data;
	return cpu->is_on && time->is_on;
}

static bool are_runs_short(const struct keys *k, size_t n)
{
	size_t runs = 1;

	for (size_t i = 1; i < n; i++)
		runs += k->cpus[i] != k->cpus[i - 1];
	return n >= LEAST_ROWS && n / runs < LONG_RUN;
}

int pc_order_rows(struct pc_row_order *o, struct pc_batch *b)
{
	uint32_t *rows, *spare;
	const uint32_t *sorted;
	struct keys k;

	if (!find_keys(b, &k) || !are_runs_short(&k, b->rows))
		return 0;
	rows = (uint32_t *)(void *)pd_buf_reserve(&o->rows, b->rows * sizeof(*rows));
	spare = (uint32_t *)(void *)pd_buf_reserve(&o->merged, b->rows * sizeof(*spare));
	if (!rows || !spare)
		return -1;
	list_rows(&k, rows, b->rows);
	sorted = sort_rows(&k, rows, spare, b->rows);
	/* the members of structs need the offsets of their list, which is before them */
	for (size_t i = b->table->nr_columns; i--;)
		if (b->arrays[i].is_on)
			order_array(o, &b->arrays[i], sorted, b->rows);
	return o->values.failed ? -1 : 0;
}
