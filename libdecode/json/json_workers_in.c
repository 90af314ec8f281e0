/* json_workers_in.c - input of the workers, which own the reader in turn and read batches.
 *
 * Input is read in parallel as well: a worker that cannot own the reader reads ahead, after the
 * bytes that others read, and owns the reader when it needs these bytes. One core thus reads bytes
 * from the file, cuts them into records and formats them.
 */
#include <time.h>

#include "json/json_internal.h"

/* ns, after which all workers finish and the caller can show progress. */
#define PROGRESS_INTERVAL 100000000

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void pd_json_workers_start_reading(struct pd_json_workers *pool)
{
	pool->may_read = true;
	pool->return_at = monotonic_ns() + PROGRESS_INTERVAL;
	pool->status = 0;
	pool->needs_input = false;
	pd_json_workers_notify(pool);
}

/* Returns the worker that has claimed the needed input, or NULL. */
static struct pd_json_worker *find_claimer(struct pd_json_workers *pool)
{
	for (size_t i = 0; i < pool->nr_workers; i++)
		if (pd_json_worker_has_needed(pool, &pool->workers[i]))
			return &pool->workers[i];
	return NULL;
}

/* Wait for the worker that is still reading the needed input. One that has read it may be asleep:
 * any worker takes its window. */
static bool can_own_reader(struct pd_json_workers *pool)
{
	const struct pd_json_worker *b = pool->needs_input ? find_claimer(pool) : NULL;

	return pool->may_read && !pool->reader_owned &&
	       pool->oldest != (pool->filling + 1) % pool->nr_slots && !(b && b->reading);
}

static enum pd_json_filled fill_with_batches(struct pd_json_workers *pool, struct pd_json_block *b)
{
	struct pd_batch *batch;

	while (!(pool->status = pd_json_next_batch(pool->main, &batch)) && batch) {
		if (batch->next == batch->count)	/* the filter dropped all */
			continue;
		pd_json_block_add_batch(b, batch, pool->main->reader);
		pd_json_workers_note_first(pool);
		if (batch->next < batch->count)
			return PD_JSON_FULL;
	}
	return pool->status ? PD_JSON_FAILED : PD_JSON_ENDED;
}

/* Adds the record that ended a batch, if pd_reader_next() is not needed for it. */
static enum pd_json_filled fill_with_record(struct pd_json_workers *pool, struct pd_json_block *b)
{
	const struct pd_record *r = pd_reader_peek(pool->main->reader);
	int kept;

	if (!r)
		return PD_JSON_ENDED;
	if (!pd_json_block_fits(b, pd_record_bytes(r).size))
		return PD_JSON_FULL;
	pd_reader_take(pool->main->reader);
	kept = pd_json_keeps(pool->main, r);
	if (kept > 0) {
		kept = pd_json_block_add(b, r);
		pd_json_workers_note_first(pool);
	}
	if (kept < 0)
		pool->status = kept;
	return kept < 0 ? PD_JSON_FAILED : PD_JSON_MORE;
}

enum pd_json_filled pd_json_workers_fill(struct pd_json_workers *pool, struct pd_json_block *b)
{
	enum pd_json_filled filled;

	do {
		filled = fill_with_batches(pool, b);
		if (filled == PD_JSON_ENDED)
			filled = fill_with_record(pool, b);
	} while (filled == PD_JSON_MORE);
	return filled;
}

/* Takes the window with the needed input from the worker that has it. */
static struct pd_read_ahead take_needed(struct pd_json_workers *pool)
{
	struct pd_json_worker *b = pool->needs_input ? find_claimer(pool) : NULL;
	struct pd_read_ahead taken = { NULL, 0, 0 };

	if (!b)
		return taken;
	taken = b->ahead;
	b->ahead.window = NULL;
	b->claimed = false;
	return taken;
}

/* Notes which input the reader needs next. For the owner of the reader. */
static void update_needed(struct pd_json_workers *pool)
{
	pool->needs_input = pd_reader_needs_input(pool->main->reader, &pool->needed_at);
	if (pool->needs_input && pool->claimed_to < pool->needed_at)
		pool->claimed_to = pool->needed_at;
}

static bool provide_window(struct pd_json_workers *pool, struct pd_json_worker *w)
{
	if (w->ahead.window)
		return false;
	w->source = pd_reader_start_read_ahead(pool->main->reader, &w->ahead);
	return true;
}

/* Provides a window to the owner of the reader, and to one worker without: the latter would find
 * none whenever it looks. */
static void provide_windows(struct pd_json_workers *pool, struct pd_json_worker *w)
{
	provide_window(pool, w);
	for (size_t i = 0; i < pool->nr_workers; i++)
		if (provide_window(pool, &pool->workers[i]))
			break;
}

/* Returns false if reading must stop here; pd_reader_next() may be able to go on. */
static bool own_reader(struct pd_json_workers *pool, struct pd_json_worker *w,
		       struct pd_json_slot **p)
{
	struct pd_json_slot *slot = &pool->ring[pool->filling];
	struct pd_read_ahead ahead = take_needed(pool);
	enum pd_json_filled filled = PD_JSON_FAILED;
	bool continues;

	pool->reader_owned = true;
	pthread_mutex_unlock(&pool->lock);
	if (!pool->needs_input || pd_reader_read_on(pool->main->reader, &ahead))
		filled = pd_json_workers_fill(pool, slot->block);

	/* This text precedes the block; if there is any, the workers are idle. */
	pd_jsonw_flush(&pool->main->w);
	pthread_mutex_lock(&pool->lock);
	update_needed(pool);
	provide_windows(pool, w);
	continues = !pool->failed &&
		    (filled == PD_JSON_FULL || (filled == PD_JSON_ENDED && pool->needs_input &&
						monotonic_ns() < pool->return_at));
	if (filled == PD_JSON_FULL || (continues && !pd_json_block_is_empty(slot->block))) {
		pd_json_workers_next_slot(pool, PD_JSON_TAKEN);
		*p = slot;
	}
	pool->may_read = continues;
	pool->reader_owned = false;
	pd_json_workers_notify(pool);
	return continues;
}

static void read_ahead(struct pd_json_workers *pool, struct pd_json_worker *w)
{
	w->claimed = w->reading = true;
	w->ahead.at = pool->claimed_to;
	pool->claimed_to += PD_READ_AHEAD;
	pthread_mutex_unlock(&pool->lock);
	pd_source_read_ahead(w->source, &w->ahead);
	pthread_mutex_lock(&pool->lock);
	w->reading = false;
	pthread_cond_broadcast(&pool->done);
}

bool pd_json_workers_read(struct pd_json_workers *pool, struct pd_json_worker *w,
			  struct pd_json_slot **p)
{
	if (w->claimed && w->ahead.at < pool->needed_at)	/* another worker read it */
		w->claimed = false;
	if (pool->may_read && w->ahead.window && !w->claimed &&
	    (pool->needs_input || pool->reader_owned)) {
		read_ahead(pool, w);
		return true;
	}
	if (!can_own_reader(pool))
		return false;
	return own_reader(pool, w, p);
}

void pd_json_workers_stop_reading(struct pd_json_workers *pool)
{
	for (size_t i = 0; i < pool->nr_workers; i++) {
		struct pd_json_worker *w = &pool->workers[i];

		while (w->reading)
			pthread_cond_wait(&pool->done, &pool->lock);
		pd_window_release(w->ahead.window);
		w->ahead.window = NULL;
		w->claimed = false;
	}
	pool->claimed_to = pool->needed_at = 0;
}
