/* json_workers.c - writes records with several threads: see json_workers.h. */
#include "json/json_workers.h"

#include <stdlib.h>

#include "json/json_internal.h"

#define SPINS 4000

bool pd_json_workers_can_take(const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	return !f->payload && !f->payload_lost && !f->zeros && !r->payload.data &&
	       f->type != PD_RECORD_HEADER_FEATURE;
}

static struct pd_json_slot *take_filled(struct pd_json_workers *pool)
{
	for (size_t i = 0; i < pool->nr_slots; i++) {
		struct pd_json_slot *p = &pool->ring[(pool->oldest + i) % pool->nr_slots];

		if (p->state == PD_JSON_FILLED) {
			p->state = PD_JSON_TAKEN;
			return p;
		}
	}
	return NULL;
}

/* Spins first: a change usually comes sooner than a thread can sleep and wake. Must be called with
 * the lock held, which is held on return. */
static void await_change(struct pd_json_workers *pool, struct pd_json_worker *w)
{
	const unsigned int seen = pool->nr_changes;

	pthread_mutex_unlock(&pool->lock);
	for (int i = 0; i < SPINS; i++) {
		if (__atomic_load_n(&pool->nr_changes, __ATOMIC_RELAXED) != seen)
			break;
		pd_thread_relax();
	}
	pthread_mutex_lock(&pool->lock);
	if (pool->nr_changes == seen && !pool->quit)
		pthread_cond_wait(w == &pool->workers[0] ? &pool->done : &pool->work, &pool->lock);
}

/* Must be called with the lock held, which is held on return. Returns false if there is no work. */
static bool work_once(struct pd_json_workers *pool, struct pd_json_worker *w)
{
	struct pd_json_slot *p = take_filled(pool);

	if (p)
		pd_json_workers_write(pool, w, p);
	return p;
}

static void *worker_main(void *arg)
{
	struct pd_json_worker *w = arg;
	struct pd_json_workers *pool = w->pool;

	pthread_mutex_lock(&pool->lock);
	while (!pool->quit)
		if (!work_once(pool, w))
			await_change(pool, w);
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Works, or waits for the thread that works on the oldest block. Must be called with the lock
 * held. */
static void work_or_wait(struct pd_json_workers *pool)
{
	if (!work_once(pool, &pool->workers[0]) &&
	    (pool->ring[pool->oldest].state == PD_JSON_TAKEN || pool->flushing))
		await_change(pool, &pool->workers[0]);
	pd_json_workers_flush(pool, &pool->workers[0]);
}

static size_t count_filled(const struct pd_json_workers *pool)
{
	size_t n = 0;

	for (size_t i = 0; i < pool->nr_slots; i++)
		n += pool->ring[i].state == PD_JSON_FILLED;
	return n;
}

/* Gives the block being filled to the workers, when the next slot is free. */
static int submit_block(struct pd_json_workers *pool)
{
	struct pd_json_slot *filled;
	int err;

	/* This text precedes the block; if there is any, the workers are idle. */
	pd_jsonw_flush(&pool->main->w);
	pthread_mutex_lock(&pool->lock);
	pd_json_workers_share_failure(pool);
	pd_json_workers_flush(pool, &pool->workers[0]);
	while (pool->oldest == (pool->filling + 1) % pool->nr_slots)
		work_or_wait(pool);
	filled = &pool->ring[pool->filling];
	filled->state = PD_JSON_FILLED;
	pool->filling = (pool->filling + 1) % pool->nr_slots;
	pd_json_block_clear(pool->ring[pool->filling].block);
	pd_json_workers_notify(pool);
	if (count_filled(pool) > 2 * pool->nr_workers) {
		filled->state = PD_JSON_TAKEN;
		pd_json_workers_write(pool, &pool->workers[0], filled);
	}
	err = pd_json_workers_sync(pool);
	pthread_mutex_unlock(&pool->lock);
	return err;
}

/* Must be called after a record was added to the block being filled. */
static void note_first(struct pd_json_workers *pool)
{
	if (!pool->has_records)
		pool->ring[pool->filling].block->first = pool->has_records = true;
}

int pd_json_workers_add(struct pd_json_workers *pool, const struct pd_record *r)
{
	int added;

	while ((added = pd_json_block_add(pool->ring[pool->filling].block, r)) == 0)
		if (submit_block(pool))
			return pool->main->w.failed;
	if (added < 0)
		return -1;
	note_first(pool);
	return 0;
}

int pd_json_workers_batches(struct pd_json_workers *pool)
{
	struct pd_batch *batch;
	int status;

	while (!(status = pd_json_next_batch(pool->main, &batch)) && batch) {
		/* the filter may have dropped all; what the workers report may stop the reader */
		while (!status && batch->next < batch->count &&
		       !pd_reader_is_stopped(pool->main->reader)) {
			pd_json_block_add_batch(pool->ring[pool->filling].block, batch,
						pool->main->reader);
			note_first(pool);
			if (batch->next < batch->count)
				status = submit_block(pool);
		}
	}
	return status ? status : pool->main->w.failed;
}

void pd_json_workers_note_outside(struct pd_json_workers *pool)
{
	pool->has_records = true;
}

/* Moves the counts of the workers to the caller's sink. */
static void collect_counts(struct pd_json_workers *pool)
{
	struct pd_json_counts *all = &pool->main->counts;

	for (size_t i = 0; i < pool->nr_workers; i++) {
		struct pd_json_counts *c = &pool->workers[i].j.counts;

		all->records += c->records;
		for (size_t type = 0; type < PD_JSON_TYPES; type++)
			all->by_type[type] += c->by_type[type];
		pd_totals_add(&all->totals, &c->totals);
		*c = (struct pd_json_counts){ .others = c->others };
		if (pool->main->options.history)
			pd_json_resolve_collect(pool->main, &pool->workers[i].j);
	}
}

int pd_json_workers_drain(struct pd_json_workers *pool)
{
	int err;

	if (pool->reporting)
		return 0;
	if (!pd_json_block_is_empty(pool->ring[pool->filling].block))
		submit_block(pool);
	pthread_mutex_lock(&pool->lock);
	pd_json_workers_flush(pool, &pool->workers[0]);
	while (pool->oldest != pool->filling)
		work_or_wait(pool);
	err = pd_json_workers_sync(pool);
	pthread_mutex_unlock(&pool->lock);
	for (size_t i = 0; i < pool->nr_slots; i++)
		pd_json_block_clear(pool->ring[i].block);
	collect_counts(pool);
	return err;
}

static int start_worker(struct pd_json_workers *pool, struct pd_json_worker *w, bool own_thread)
{
	w->pool = pool;
	w->j.options = pool->main->options;
	w->j.namer = pool->main->namer;
	w->j.reader = pool->main->reader;
	w->j.session = pool->main->session;
	w->j.own.limit = pool->main->own.limit;
	w->j.arena.budget = w->j.counts.others.budget = &w->j.own;
	w->j.resolve.table.arena.budget = w->j.resolve.table.by_hash.budget = &w->j.own;
	if (!own_thread)
		return 0;
	w->started = !pd_thread_start(&w->thread, worker_main, w);
	return w->started ? 0 : -1;
}

/* The lock is held briefly: spinning is faster than sleeping. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP	/* glibc; musl always spins */
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &a);
	pthread_mutexattr_destroy(&a);
}

struct pd_json_workers *pd_json_workers_new(struct pd_json *j, unsigned int threads)
{
	struct pd_json_workers *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->main = j;
	pool->nr_workers = threads;
	pool->nr_slots = 4 * threads + 1;
	init_lock(&pool->lock);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, NULL);
	pool->ring = calloc(pool->nr_slots, sizeof(*pool->ring));
	pool->outbufs = calloc(pool->nr_slots, sizeof(*pool->outbufs));
	pool->workers = calloc(threads, sizeof(*pool->workers));
	for (size_t i = 0; pool->ring && i < pool->nr_slots; i++) {
		pool->ring[i].block = pd_json_block_new();
		if (!pool->ring[i].block)
			goto fail;
	}
	if (!pool->ring || !pool->outbufs || !pool->workers)
		goto fail;
	for (size_t i = 0; i < threads; i++)
		if (start_worker(pool, &pool->workers[i], i > 0))
			goto fail;
	return pool;
fail:
	pd_json_workers_free(pool);
	return NULL;
}

void pd_json_workers_free(struct pd_json_workers *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->quit = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (size_t i = 0; pool->workers && i < pool->nr_workers; i++) {
		struct pd_json_worker *w = &pool->workers[i];

		if (w->started)
			pthread_join(w->thread, NULL);
		pd_arena_free(&w->j.arena);
		pd_json_resolve_free(&w->j);
	}
	for (size_t i = 0; pool->ring && i < pool->nr_slots; i++)
		pd_json_block_free(pool->ring[i].block);
	for (size_t i = 0; pool->outbufs && i < pool->nr_slots; i++)
		free(pool->outbufs[i].text);
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool->outbufs);
	free(pool->ring);
	free(pool->workers);
	free(pool);
}
