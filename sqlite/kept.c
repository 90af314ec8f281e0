/* kept.c - tables that stay in memory. */
#include "api.h"

#include "kept.h"

#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "values.h"

enum { MOST_TABLES = 64 };

struct pq_kept {
	unsigned int scans[MOST_TABLES];
	bool is_too_large[MOST_TABLES];
	struct pq_table *tables[MOST_TABLES];
};

struct pq_kept *pq_kept_new(void)
{
	return calloc(1, sizeof(struct pq_kept));
}

void pq_kept_free(struct pq_kept *k)
{
	for (size_t i = 0; k && i < MOST_TABLES; i++)
		pq_table_release(k->tables[i]);
	free(k);
}

unsigned int pq_kept_count(struct pq_kept *k, size_t table)
{
	return k->scans[table]++;
}

void pq_table_release(struct pq_table *t)
{
	if (!t || --t->users)
		return;
	for (size_t i = 0; i < t->nr_batches; i++)
		t->batches[i].release(&t->batches[i]);
	for (size_t i = 0; t->lookups && i < t->nr_columns; i++)
		free(t->lookups[i].entries);
	free(t->lookups);
	free(t->batches);
	free(t->firsts);
	free(t->counts);
	free(t);
}

/* --- reading --- */

/* Returns about how many bytes an array has. Structs have bits of validity only. */
static uint64_t size_of(const struct ArrowArray *a)
{
	uint64_t size = a->n_buffers == 1 ? (uint64_t)a->length / 8 : (uint64_t)a->length * 8;

	if (a->n_buffers == 3 && a->length)
		size += (uint64_t)((const int32_t *)a->buffers[1])[a->length];
	for (int64_t i = 0; i < a->n_children; i++)
		size += size_of(a->children[i]);
	return size + (a->dictionary ? size_of(a->dictionary) : 0);
}

/* Adds a batch. Returns SQLITE_OK or SQLITE_NOMEM; it is the table's even then. */
static int add_batch(struct pq_table *t, struct ArrowArray *batch)
{
	struct ArrowArray *batches = realloc(t->batches, (t->nr_batches + 1) * sizeof(*batches));
	size_t *firsts = realloc(t->firsts, (t->nr_batches + 1) * sizeof(*firsts));

	t->batches = batches ? batches : t->batches;
	t->firsts = firsts ? firsts : t->firsts;
	if (!batches || !firsts) {
		batch->release(batch);
		return SQLITE_NOMEM;
	}
	t->batches[t->nr_batches] = *batch;
	t->firsts[t->nr_batches++] = t->rows;
	t->rows += (size_t)batch->length;
	t->bytes += size_of(batch);
	return SQLITE_OK;
}

/* Appends the counts of the next n rows; NULL: 1 each. */
static int add_counts(struct pq_table *t, const uint32_t *counts, size_t n)
{
	uint32_t *all = realloc(t->counts, (t->rows + n + 1) * sizeof(*all));

	if (!all)
		return SQLITE_NOMEM;
	t->counts = all;
	for (size_t i = 0; i < n; i++)
		all[t->rows + i] = counts ? counts[i] : 1;
	return SQLITE_OK;
}

/* Merges the rows of a batch that comes next. */
static int merge_batch(struct pq_table *t, size_t table, struct ArrowArray *batch)
{
	uint32_t *counts;
	int ret = pq_merge_rows(pc_table_at(table), t->columns, batch, &counts);

	if (ret == SQLITE_OK)
		ret = add_counts(t, counts, (size_t)batch->length);
	free(counts);
	if (ret != SQLITE_OK)
		batch->release(batch);
	return ret;
}

/* Reads until the end, or until the limit is exceeded. */
static int read_batches(struct pq_recording *r, struct pq_table *t, const struct pq_wanted *wanted,
			struct ArrowArrayStream *stream)
{
	const uint64_t memory = r->input.memory ? r->input.memory : PQ_MEMORY;
	const uint64_t limit = memory - (r->kept_bytes < memory ? r->kept_bytes : memory);
	struct ArrowArray batch;
	int ret;

	while (t->bytes + t->rows * wanted->row_bytes <= limit && t->rows < UINT32_MAX) {
		ret = pq_recording_next(r, stream, &batch);
		if (ret != SQLITE_OK || !batch.release)
			return ret;
		if (wanted->equal == PQ_MERGED)
			ret = merge_batch(t, wanted->table, &batch);
		if (ret == SQLITE_OK)
			ret = add_batch(t, &batch);
		if (ret != SQLITE_OK)
			return ret;
	}
	return SQLITE_FULL;
}

static struct pq_table *new_table(size_t table, uint64_t columns)
{
	struct pq_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->users = 1;
	t->columns = columns;
	t->nr_columns = pc_table_at(table)->nr_columns;
	t->lookups = calloc(t->nr_columns, sizeof(*t->lookups));
	if (t->lookups)
		return t;
	pq_table_release(t);
	return NULL;
}

int pq_table_read(struct pq_recording *r, const struct pq_wanted *wanted, struct pq_table **out,
		  struct pd_error *e)
{
	struct ArrowArrayStream stream;
	int ret;

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	*out = new_table(wanted->table, wanted->columns);
	if (!*out)
		return SQLITE_NOMEM;
	ret = pq_recording_scan(r, wanted->table, wanted->columns, wanted->filter, &stream, e) ?
		SQLITE_ERROR : SQLITE_OK;
	if (ret == SQLITE_OK) {
		ret = read_batches(r, *out, wanted, &stream);
		stream.release(&stream);
	}
	if (ret == SQLITE_OK)
		return ret;
	pq_table_release(*out);
	*out = NULL;
	return ret;
}

int pq_kept_get(struct pq_recording *r, size_t table, uint64_t columns, struct pq_table **out,
		struct pd_error *e)
{
	struct pq_table **kept = &r->kept->tables[table], *new;
	int ret = SQLITE_OK;

	*out = NULL;
	if (r->kept->is_too_large[table])
		return SQLITE_OK;
	if (!*kept || columns & ~(*kept)->columns) {
		const struct pq_wanted wanted = {
			.table = table, .columns = columns | (*kept ? (*kept)->columns : 0) };

		ret = pq_table_read(r, &wanted, &new, e);
		r->kept->is_too_large[table] = ret == SQLITE_FULL;
		if (ret != SQLITE_OK)
			return ret == SQLITE_FULL ? SQLITE_OK : ret;
		if (*kept)
			r->kept_bytes -= (*kept)->bytes;
		pq_table_release(*kept);
		r->kept_bytes += new->bytes;
		*kept = new;
	}
	(*kept)->users++;
	*out = *kept;
	return SQLITE_OK;
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
