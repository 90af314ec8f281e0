/* json_workers_out.c - output of the workers: formats blocks and flushes their text in order. */
#include "json/json_internal.h"

/* Returns a free output buffer: there is one for each slot. Prefers the one that the worker used
 * last, which is in its cache. */
static struct pd_json_outbuf *take_outbuf(struct pd_json_workers *pool,
					  const struct pd_json_worker *w)
{
	struct pd_json_outbuf *best = &pool->outbufs[0];

	for (size_t i = 0; i < pool->nr_slots; i++) {
		struct pd_json_outbuf *s = &pool->outbufs[i];

		if (!s->taken &&
		    (best->taken || s->writer == w || (!s->writer && best->writer != w)))
			best = s;
	}
	best->taken = true;
	best->writer = w;
	return best;
}

/* Returns 0 or the output's error, after which it is not called again. */
static int write_text(const struct pd_json_workers *pool, const struct pd_json_block *b)
{
	const struct pd_output *out = &pool->main->w.out;

	if (pool->failed || b->failed)
		return pool->failed ? pool->failed : -1;
	return b->outbuf->size ? out->write(out->ctx, b->outbuf->text + 1, b->outbuf->size) : 0;
}

/* Reports the samples of a block whose raw data are too short. Must be called by the caller's
 * thread. Returns `failed`, or the output's error. */
static int report_missing(struct pd_json_workers *pool, const struct pd_json_block *b, int failed)
{
	struct pd_json *j = pool->main;

	if (!j->w.failed)
		j->w.failed = failed;
	pool->reporting = true;
	j->error_is_written = j->options.shape == PD_JSON_LINES;
	for (size_t i = 0; i < b->nr_missing; i++)
		pd_json_report_missing(j, b->missing[i].offset, b->missing[i].want,
				       b->missing[i].have, b->missing[i].file);
	j->error_is_written = false;
	pool->reporting = false;
	return j->w.failed;
}

/* Flushes the oldest block. */
static void flush_oldest(struct pd_json_workers *pool)
{
	struct pd_json_slot *p = &pool->ring[pool->oldest];
	struct pd_json_outbuf *outbuf = p->block->outbuf;
	int err;

	pthread_mutex_unlock(&pool->lock);
	err = write_text(pool, p->block);
	if (p->block->nr_missing)
		err = report_missing(pool, p->block, err);
	pthread_mutex_lock(&pool->lock);
	pool->failed = err;
	if (outbuf->size)
		pool->last_char = outbuf->text[outbuf->size];
	outbuf->taken = false;
	p->state = PD_JSON_FREE;
	pool->oldest = (pool->oldest + 1) % pool->nr_slots;
}

void pd_json_workers_notify(struct pd_json_workers *pool)
{
	pthread_cond_signal(&pool->work);
	pthread_cond_broadcast(&pool->done);
	__atomic_store_n(&pool->nr_changes, pool->nr_changes + 1, __ATOMIC_RELAXED);
}

void pd_json_workers_flush(struct pd_json_workers *pool, const struct pd_json_worker *w)
{
	const bool is_caller = w == &pool->workers[0];

	if (pool->flushing)
		return;
	pool->flushing = true;
	while (pool->ring[pool->oldest].state == PD_JSON_DONE) {
		if (pool->ring[pool->oldest].block->nr_missing && !is_caller)
			break;
		flush_oldest(pool);
		pd_json_workers_notify(pool);
	}
	pool->flushing = false;
}

/* A block and the worker that formats it. */
struct turn {
	struct pd_json_worker *worker;
	const struct pd_json_slot *slot;
};

/* Writes text of an unfinished block, after that of all earlier blocks. */
static int write_in_turn(void *ctx, const void *p, size_t n)
{
	const struct turn *turn = ctx;
	struct pd_json_workers *pool = turn->worker->pool;
	const struct pd_output *out = &pool->main->w.out;
	int err;

	pthread_mutex_lock(&pool->lock);
	pd_json_workers_flush(pool, turn->worker);
	while (&pool->ring[pool->oldest] != turn->slot || pool->flushing) {
		pthread_cond_wait(&pool->done, &pool->lock);
		pd_json_workers_flush(pool, turn->worker);
	}
	err = pool->failed;
	pool->flushing = true;
	pthread_mutex_unlock(&pool->lock);
	if (!err)
		err = out->write(out->ctx, p, n);
	pthread_mutex_lock(&pool->lock);
	pool->failed = err;
	pool->last_char = ((const char *)p)[n - 1];
	pool->flushing = false;
	pthread_mutex_unlock(&pool->lock);
	return err;
}

void pd_json_workers_write(struct pd_json_workers *pool, struct pd_json_worker *w,
			   struct pd_json_slot *p)
{
	struct pd_json_outbuf *outbuf = take_outbuf(pool, w);
	struct turn turn = { w, p };

	pthread_mutex_unlock(&pool->lock);
	pd_json_block_write(p->block, outbuf, &w->j, (struct pd_output){ write_in_turn, &turn });
	pthread_mutex_lock(&pool->lock);
	p->state = PD_JSON_DONE;
	pd_json_workers_flush(pool, w);
	pd_json_workers_notify(pool);
}

void pd_json_workers_share_failure(struct pd_json_workers *pool)
{
	struct pd_jsonw *w = &pool->main->w;

	if (!w->failed)
		w->failed = pool->failed;
	else if (!pool->failed)
		pool->failed = w->failed;
}

int pd_json_workers_sync(struct pd_json_workers *pool)
{
	struct pd_jsonw *w = &pool->main->w;

	pd_json_workers_share_failure(pool);
	if (pool->last_char)
		w->at[-1] = pool->last_char;
	pool->last_char = '\0';
	return w->failed;
}
