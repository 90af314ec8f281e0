/* json_workers.c - writes records with several threads: see json_workers.h. */
#include "json/json_workers.h"

#include <stdlib.h>

#include "json/json_internal.h"

#define SPINS 4000

bool pd_json_team_takes(const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	return !f->payload && !f->payload_lost && !f->zeros && !r->payload.data && f->type != PD_RECORD_HEADER_FEATURE;
}

static struct pd_json_place *take_filled(struct pd_json_team *t)
{
	for (size_t i = 0; i < t->nr_places; i++) {
		struct pd_json_place *p = &t->ring[(t->oldest + i) % t->nr_places];

		if (p->state == PD_JSON_FILLED) {
			p->state = PD_JSON_TAKEN;
			return p;
		}
	}
	return NULL;
}

void pd_json_team_changed(struct pd_json_team *t)
{
	struct pd_json_worker *best = NULL;

	for (size_t i = 1; i < t->nr_workers; i++) {
		struct pd_json_worker *w = &t->workers[i];

		if (w->waits && (!best || pd_json_worker_has_wanted(t, w)))
			best = w;
	}
	if (best) {
		best->waits = false;
		pthread_cond_signal(&best->wake);
	}
	pthread_cond_broadcast(&t->done);
	__atomic_store_n(&t->changes, t->changes + 1, __ATOMIC_RELAXED);
}

/* A change comes soon: going to sleep and being woken takes longer. Called and left with the lock held. */
static void await_change(struct pd_json_team *t, struct pd_json_worker *w)
{
	const unsigned int seen = t->changes;

	pthread_mutex_unlock(&t->lock);
	for (int i = 0; i < SPINS && __atomic_load_n(&t->changes, __ATOMIC_RELAXED) == seen; i++)
		pd_thread_relax();
	pthread_mutex_lock(&t->lock);
	if (t->changes != seen)
		return;
	if (w == &t->workers[0])
		pthread_cond_wait(&t->done, &t->lock);
	else
		w->waits = true;
	while (w->waits && !t->quit)
		pthread_cond_wait(&w->wake, &t->lock);
}

/* Called and left with the lock held. False: there is nothing to do. */
static bool work_once(struct pd_json_team *t, struct pd_json_worker *w)
{
	struct pd_json_place *p = take_filled(t);
	const bool busy = !p && pd_json_team_read(t, w, &p);

	if (p)
		pd_json_team_write(t, w, p);
	return busy || p;
}

static void *work(void *arg)
{
	struct pd_json_worker *w = arg;
	struct pd_json_team *t = w->team;

	pthread_mutex_lock(&t->lock);
	while (!t->quit)
		if (!work_once(t, w))
			await_change(t, w);
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* Works or waits until the oldest block is out of the way. With the lock held. */
static void help(struct pd_json_team *t)
{
	if (!work_once(t, &t->workers[0]) && (t->ring[t->oldest].state == PD_JSON_TAKEN || t->putting))
		await_change(t, &t->workers[0]);
	pd_json_team_put(t, &t->workers[0]);
}

/* The block being filled goes to the threads, once the next one is free: a ring that is full has just one left. */
static int submit(struct pd_json_team *t)
{
	int failed;

	pd_jsonw_flush(&t->main->w);	/* goes out before; if there is something, no thread is at work */
	pthread_mutex_lock(&t->lock);
	pd_json_team_put(t, &t->workers[0]);
	while (t->oldest == (t->filling + 1) % t->nr_places)
		help(t);
	pd_json_team_go_on(t, PD_JSON_FILLED);
	failed = pd_json_team_catch_up(t);
	pd_json_team_changed(t);
	pthread_mutex_unlock(&t->lock);
	return failed;
}

int pd_json_team_add(struct pd_json_team *t, const struct pd_record *r)
{
	int added;

	while ((added = pd_json_block_add(t->ring[t->filling].block, r)) == 0)
		if (submit(t))
			return t->main->w.failed;
	if (added < 0)
		return -1;
	pd_json_team_note_first(t);
	return 0;
}

/* All threads read, one after the other. */
static void run_together(struct pd_json_team *t)
{
	pthread_mutex_lock(&t->lock);
	pd_json_team_open(t);
	while (t->open || t->leading) {
		pd_json_team_put(t, &t->workers[0]);
		if (!work_once(t, &t->workers[0]) && (t->open || t->leading))
			await_change(t, &t->workers[0]);
	}
	pd_json_team_catch_up(t);
	pthread_mutex_unlock(&t->lock);
}

/* The caller's reads for all: what ends the runs is its to see, and it must not be busy then. */
static void run_alone(struct pd_json_team *t)
{
	while (pd_json_team_fill(t, t->ring[t->filling].block) == PD_JSON_FULL)
		if (submit(t))
			break;
}

int pd_json_team_batch(struct pd_json_team *t)
{
	if (pd_reader_can_change_threads(t->main->reader))
		run_together(t);
	else
		run_alone(t);
	return t->status ? t->status : t->main->w.failed;
}

void pd_json_team_is_not_first(struct pd_json_team *t)
{
	t->any = true;
}

/* What the threads have counted. */
static void collect_counts(struct pd_json_team *t)
{
	struct pd_json_counts *all = &t->main->counts;

	for (size_t i = 0; i < t->nr_workers; i++) {
		struct pd_json_counts *c = &t->workers[i].j.counts;

		all->records += c->records;
		for (size_t type = 0; type < PD_JSON_TYPES; type++)
			all->by_type[type] += c->by_type[type];
		pd_totals_add(&all->totals, &c->totals);
		*c = (struct pd_json_counts){ .others = c->others };
	}
}

int pd_json_team_drain(struct pd_json_team *t)
{
	int failed;

	if (t->reporting)
		return 0;
	if (!pd_json_block_is_empty(t->ring[t->filling].block))
		submit(t);
	pthread_mutex_lock(&t->lock);
	pd_json_team_put(t, &t->workers[0]);
	while (t->oldest != t->filling)
		help(t);
	pd_json_team_stop_reading(t);
	failed = pd_json_team_catch_up(t);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; i < t->nr_places; i++)
		pd_json_block_empty(t->ring[i].block);
	collect_counts(t);
	return failed;
}

static int start_worker(struct pd_json_team *t, struct pd_json_worker *w, bool own_thread)
{
	w->team = t;
	pthread_cond_init(&w->wake, NULL);
	w->j.options = t->main->options;
	w->j.reader = t->main->reader;
	w->j.session = t->main->session;
	w->j.own.limit = t->main->own.limit;
	w->j.arena.budget = w->j.counts.others.budget = &w->j.own;
	if (!own_thread)
		return 0;
	w->started = !pd_thread_start(&w->thread, work, w);
	return w->started ? 0 : -1;
}

/* It is held so shortly that trying again is better than going to sleep. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP	/* of glibc; musl's spins in any case */
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &a);
	pthread_mutexattr_destroy(&a);
}

struct pd_json_team *pd_json_team_new(struct pd_json *j, unsigned int threads)
{
	struct pd_json_team *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->main = j;
	t->nr_workers = threads;
	t->nr_places = 2 * threads + 1;
	init_lock(&t->lock);
	pthread_cond_init(&t->done, NULL);
	t->ring = calloc(t->nr_places, sizeof(*t->ring));
	t->sheets = calloc(t->nr_places, sizeof(*t->sheets));
	t->workers = calloc(threads, sizeof(*t->workers));
	for (size_t i = 0; t->ring && i < t->nr_places; i++) {
		t->ring[i].block = pd_json_block_new();
		if (!t->ring[i].block)
			goto fail;
	}
	if (!t->ring || !t->sheets || !t->workers)
		goto fail;
	for (size_t i = 0; i < threads; i++)
		if (start_worker(t, &t->workers[i], i > 0))
			goto fail;
	return t;
fail:
	pd_json_team_free(t);
	return NULL;
}

void pd_json_team_free(struct pd_json_team *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->quit = true;
	for (size_t i = 0; t->workers && i < t->nr_workers; i++)
		pthread_cond_signal(&t->workers[i].wake);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; t->workers && i < t->nr_workers; i++) {
		struct pd_json_worker *w = &t->workers[i];

		if (w->started)
			pthread_join(w->thread, NULL);
		if (w->team)
			pthread_cond_destroy(&w->wake);
		pd_arena_free(&w->j.arena);
	}
	for (size_t i = 0; t->ring && i < t->nr_places; i++)
		pd_json_block_free(t->ring[i].block);
	for (size_t i = 0; t->sheets && i < t->nr_places; i++)
		free(t->sheets[i].text);
	pthread_cond_destroy(&t->done);
	pthread_mutex_destroy(&t->lock);
	free(t->sheets);
	free(t->ring);
	free(t->workers);
	free(t);
}
