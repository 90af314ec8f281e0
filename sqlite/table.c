/* table.c - a table in memory: see table.h. */
#include "api.h"

#include "table.h"

#include <stdlib.h>

#include "values.h"

void pq_table_release(struct pq_table *t)
{
	if (!t || --t->users)
		return;
	for (size_t i = 0; i < t->nr_batches; i++)
		if (t->batches[i].release)	/* else it was moved away */
			t->batches[i].release(&t->batches[i]);
	for (size_t i = 0; t->lookups && i < t->nr_columns; i++)
		free(t->lookups[i].entries);
	free(t->lookups);
	free(t->batches);
	free(t->firsts);
	free(t->counts);
	free(t);
}

/* --- lookups --- */

const struct ArrowArray *pq_table_row(const struct pq_table *t, size_t row, int64_t *at)
{
	size_t low = 0, high = t->nr_batches;

	while (high - low > 1) {
		const size_t middle = (low + high) / 2;

		if (t->firsts[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	*at = (int64_t)(row - t->firsts[low]);
	return &t->batches[low];
}

static int compare_entries(const void *a, const void *b)
{
	const struct pq_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool is_sorted(const struct pq_lookup *l)
{
	for (size_t i = 1; i < l->count; i++)
		if (l->entries[i - 1].key > l->entries[i].key)
			return false;
	return true;
}

static bool make_lookup(struct pq_table *t, const struct pc_column *column, struct pq_lookup *l,
			int64_t child)
{
	l->entries = calloc(t->rows ? t->rows : 1, sizeof(*l->entries));
	if (!l->entries)
		return false;
	for (size_t i = 0, row = 0; i < t->nr_batches; i++)
		for (int64_t k = 0; k < t->batches[i].length; k++, row++)
			if (pq_integer(t->batches[i].children[child], column, k,
				       &l->entries[l->count].key))
				l->entries[l->count++].row = (uint32_t)row;
	if (!is_sorted(l))
		qsort(l->entries, l->count, sizeof(*l->entries), compare_entries);
	l->is_made = true;
	return true;
}

/* Returns the first entry whose key is not less. */
static size_t find_key(const struct pq_lookup *l, int64_t key)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (l->entries[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct pq_lookup *pq_table_find(struct pq_table *t, const struct pc_column *of,
				      size_t column, int64_t key, struct pq_found *found)
{
	struct pq_lookup *l = &t->lookups[column];
	size_t end;

	if (!l->is_made && !make_lookup(t, of, l, pq_child(t->columns, column)))
		return NULL;
	found->first = end = find_key(l, key);
	while (end < l->count && l->entries[end].key == key)
		end++;
	found->count = end - found->first;
	return l;
}
