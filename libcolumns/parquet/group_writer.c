/* group_writer.c - full batches become row groups of Parquet files: see group_writer.h. */
#include "parquet/group_writer.h"

#include <string.h>

#include "base/thread.h"

enum { LEAST_MEMORY = 64 << 20 };	/* for a thread */

static struct pc_parquet *file_of(struct pc_group_writer *w, const struct pc_batch *b)
{
	for (size_t i = 0; i < PC_NR_TABLES; i++)
		if (w->files[i].table == b->table)
			return &w->files[i];
	return NULL;
}

static int write_group(struct pc_group_writer *w, struct pc_batch *b)
{
	struct pc_parquet *file = file_of(w, b);

	return file ? pc_parquet_group(file, b) : 0;
}

static void *write_groups(void *ctx)
{
	struct pc_group_writer *w = ctx;
	struct pc_batch *first;
	int error = 0;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->nr_full && !w->is_ending)
			pthread_cond_wait(&w->change, &w->lock);
		if (!w->nr_full)
			break;
		first = w->full[0];
		pthread_mutex_unlock(&w->lock);
		if (!error)
			error = write_group(w, first);
		pc_batch_clear(first);
		pthread_mutex_lock(&w->lock);
		w->error = error;
		w->nr_full--;
		memmove(w->full, w->full + 1, w->nr_full * sizeof(*w->full));
		pthread_cond_broadcast(&w->change);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void free_lock(struct pc_group_writer *w)
{
	pthread_cond_destroy(&w->change);
	pthread_mutex_destroy(&w->lock);
}

/* Without a thread, the caller's writes. */
static void start_thread(struct pc_group_writer *w)
{
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->change, NULL);
	w->has_thread = pd_thread_start(&w->thread, write_groups, w) == 0;
	if (!w->has_thread)
		free_lock(w);
}

static void stop_thread(struct pc_group_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->is_ending = true;
	pthread_cond_signal(&w->change);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	free_lock(w);
}

/* Makes the batches that are exchanged with those of the pass. */
static int make_spares(struct pc_group_writer *w, const struct pc_group_writer_options *o)
{
	for (size_t i = 0; i < PC_NR_TABLES; i++)
		if (w->files[i].table &&
		    pc_batch_init(&w->spares[i], w->files[i].table, o->selection, o->budget))
			return -1;
	return 0;
}

int pc_group_writer_begin(struct pc_group_writer *w, const struct pc_group_writer_options *o)
{
	int error = 0;

	*w = (struct pc_group_writer){ .compressor = ZSTD_createCCtx() };
	if (!w->compressor)
		return -1;
	if (o->threads > 1 && o->budget->limit >= LEAST_MEMORY)
		start_thread(w);
	for (size_t i = 0; i < PC_NR_TABLES && !error; i++) {
		if (!o->outputs[i].write || !o->batches[i].table)
			continue;
		w->files[i] = (struct pc_parquet){
			.out = o->outputs[i], .budget = o->budget,
			.table = o->batches[i].table, .selection = o->selection,
			.uint64 = o->uint64, .compressor = w->compressor };
		error = pc_parquet_begin(&w->files[i]);
	}
	return error ? error : w->has_thread ? make_spares(w, o) : 0;
}

/* Returns whether the rows of a spare are not written yet; where memory is short, those of any. */
static bool is_full(const struct pc_group_writer *w, const struct pc_batch *spare)
{
	if (!pd_budget_has_room(spare->budget, spare->budget->limit / 2))
		return w->nr_full > 0;
	for (size_t i = 0; i < w->nr_full; i++)
		if (w->full[i] == spare)
			return true;
	return false;
}

static int exchange_batches(struct pc_group_writer *w, struct pc_batch *b)
{
	struct pc_batch *spare = &w->spares[file_of(w, b) - w->files];
	struct pc_array *arrays = b->arrays;
	int error;

	pthread_mutex_lock(&w->lock);
	while (is_full(w, spare))
		pthread_cond_wait(&w->change, &w->lock);
	error = w->error;
	b->arrays = spare->arrays;
	spare->arrays = arrays;
	spare->rows = b->rows;
	if (!error)
		w->full[w->nr_full++] = spare;
	pthread_cond_broadcast(&w->change);
	pthread_mutex_unlock(&w->lock);
	return error;
}

int pc_group_writer_add(struct pc_group_writer *w, struct pc_batch *b)
{
	if (!file_of(w, b))
		return 0;
	return w->has_thread ? exchange_batches(w, b) : write_group(w, b);
}

/* The file of `files` ends last: whoever finds it whole has all of them. */
int pc_group_writer_end(struct pc_group_writer *w)
{
	int error = 0;

	if (w->has_thread)
		stop_thread(w);
	error = w->error;
	for (size_t i = PC_NR_TABLES; i--;) {
		if (!error && w->files[i].table)
			error = pc_parquet_end(&w->files[i]);
		pc_parquet_free(&w->files[i]);
		pc_batch_free(&w->spares[i]);
	}
	ZSTD_freeCCtx(w->compressor);
	return error;
}
