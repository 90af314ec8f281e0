/* table_read.c - reads a table into memory, with a thread for each part of the recording. */
#include "api.h"

#include "table_read.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "merge.h"
#include "parts.h"

/* --- batches --- */

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

/* --- a part --- */

/* Reading of one part, or of the whole. */
struct reading {
	struct pq_recording *recording;
	const struct pq_wanted *wanted;
	struct ArrowArrayStream stream;
	struct pq_table *table;
	uint64_t limit;			/* bytes */
	atomic_bool *is_over;		/* of a part: the others are not wanted; NULL: the whole */
	pthread_t thread;
	bool is_first;			/* read by the caller's thread */
	bool is_started;
	int ret;			/* SQLITE_OK: all of it was read */
};

/* Gets the next batch. After an error in a part the whole is read instead, where it occurs again
 * and is reported. */
static int next_batch(struct reading *g, struct ArrowArray *out)
{
	if (!g->is_over)
		return pq_recording_next(g->recording, &g->stream, out);
	if (atomic_load(g->is_over) ||
	    (g->is_first && pq_recording_is_interrupted(g->recording)))
		return SQLITE_INTERRUPT;
	return g->stream.get_next(&g->stream, out) ? SQLITE_ERROR : SQLITE_OK;
}

/* Reads until the end, or until the limit is exceeded. */
static int read_batches(struct reading *g)
{
	const struct pq_wanted *wanted = g->wanted;
	struct pq_table *t = g->table;
	struct ArrowArray batch;
	int ret;

	while (t->bytes + t->rows * wanted->row_bytes <= g->limit && t->rows < UINT32_MAX) {
		ret = next_batch(g, &batch);
		if (ret != SQLITE_OK || !batch.release)
			return ret;
		if (wanted->equal == PQ_MERGED)
			ret = merge_batch(t, wanted->scan.table, &batch);
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

/* Opens the reading of a part; NULL: of the whole. */
static int open_reading(struct reading *g, const struct pq_part *part, struct pd_error *e)
{
	struct pq_scan scan = g->wanted->scan;

	g->ret = SQLITE_NOMEM;
	g->table = new_table(scan.table, scan.columns);
	if (!g->table)
		return g->ret;
	scan.part = part;
	g->ret = SQLITE_ERROR;
	if (pq_recording_scan(g->recording, &scan, &g->stream, e) == 0)
		g->ret = SQLITE_OK;
	return g->ret;
}

/* Frees all but the table. */
static void close_reading(struct reading *g)
{
	if (g->stream.release)
		g->stream.release(&g->stream);
}

/* Returns the bytes that rows may take. */
static uint64_t limit_of(const struct pq_recording *r)
{
	const uint64_t memory = r->input.memory;

	return memory - (r->kept_bytes < memory ? r->kept_bytes : memory);
}

static int read_whole(struct pq_recording *r, const struct pq_wanted *wanted,
		      struct pq_table **out, struct pd_error *e)
{
	struct reading g = { .recording = r, .wanted = wanted, .limit = limit_of(r) };

	if (open_reading(&g, NULL, e) == SQLITE_OK)
		g.ret = read_batches(&g);
	close_reading(&g);
	if (g.ret == SQLITE_OK)
		*out = g.table;
	else
		pq_table_release(g.table);
	return g.ret;
}

/* --- parts --- */

static void *run_reading(void *reading)
{
	struct reading *g = reading;

	g->ret = read_batches(g);
	return NULL;
}

/* Starts a thread. Signals are for the caller's. SIGBUS, of a mapped file that shrinks, ends the
 * process where it is blocked. */
static void start_thread(struct reading *g)
{
	sigset_t all, before;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	g->is_started = pthread_create(&g->thread, NULL, run_reading, g) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!g->is_started)
		g->ret = SQLITE_ERROR;
}

/* Reads all parts at once, the first one in the caller's thread. */
static void run_parts(struct reading *all, size_t n, atomic_bool *is_over)
{
	for (size_t i = 1; i < n; i++)
		start_thread(&all[i]);
	run_reading(&all[0]);
	if (all[0].ret != SQLITE_OK)
		atomic_store(is_over, true);
	for (size_t i = 1; i < n; i++)
		if (all[i].is_started)
			pthread_join(all[i].thread, NULL);
}

/* Moves the rows of a table to the end of another. */
static int move_rows(struct pq_table *to, struct pq_table *from)
{
	size_t row = 0;

	for (size_t i = 0; i < from->nr_batches; i++) {
		struct ArrowArray *batch = &from->batches[i], moved = *batch;
		const size_t n = (size_t)moved.length;

		if (from->counts && add_counts(to, from->counts + row, n) != SQLITE_OK)
			return SQLITE_NOMEM;
		row += n;
		batch->release = NULL;
		if (add_batch(to, &moved) != SQLITE_OK)
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

/* Makes one table of those of all parts. Returns SQLITE_OK if all are whole. */
static int join_parts(struct reading *all, size_t n, struct pq_table **out)
{
	int ret = SQLITE_OK;

	for (size_t i = 0; i < n && ret == SQLITE_OK; i++)
		ret = all[i].ret;
	for (size_t i = 1; i < n && ret == SQLITE_OK; i++)
		ret = move_rows(all[0].table, all[i].table);
	for (size_t i = 0; i < n; i++) {
		close_reading(&all[i]);
		if (i || ret != SQLITE_OK)
			pq_table_release(all[i].table);
	}
	if (ret == SQLITE_OK)
		*out = all[0].table;
	return ret;
}

static int read_parts(struct pq_recording *r, const struct pq_wanted *wanted,
		      const struct pq_part *parts, size_t n, struct pq_table **out)
{
	struct reading all[PQ_MOST_PARTS] = { { NULL } };
	atomic_bool is_over = false;
	struct pd_error ignored;
	int ret = SQLITE_OK;

	for (size_t i = 0; i < n && ret == SQLITE_OK; i++) {
		all[i] = (struct reading){ .recording = r, .wanted = wanted,
					   .limit = limit_of(r) / n,
					   .is_over = &is_over, .is_first = !i };
		ret = open_reading(&all[i], &parts[i], &ignored);
	}
	r->nr_parts = n;
	if (ret == SQLITE_OK)
		run_parts(all, n, &is_over);
	else
		all[0].ret = ret;
	r->nr_parts = 1;
	return join_parts(all, n, out);
}

/* --- all of it --- */

int pq_table_read(struct pq_recording *r, const struct pq_wanted *wanted, struct pq_table **out,
		  struct pd_error *e)
{
	struct pq_part parts[PQ_MOST_PARTS];
	const size_t n = pq_parts_divide(r, &wanted->scan, parts);
	int ret;

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	*out = NULL;
	ret = n > 1 ? read_parts(r, wanted, parts, n, out) : SQLITE_ERROR;
	return ret == SQLITE_OK || ret == SQLITE_INTERRUPT ? ret : read_whole(r, wanted, out, e);
}
