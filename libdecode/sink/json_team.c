/* json_team.c - writes records with several threads: see json_team.h. */
#include "sink/json_team.h"

#include <stdlib.h>

#include "base/thread.h"
#include "sink/json_block.h"

#define TYPE_HEADER_FEATURE 80
#define SPINS 1000

enum block_state { FREE, FILLED, TAKEN, DONE };

/* A place in the ring. */
struct place {
	enum block_state state;
	struct pd_json_block *block;
};

/* A thread's own sink, without a file around it. */
struct worker {
	struct pd_json_team *team;
	struct pd_json j;
	pthread_t thread;
	bool started;
	char apart[128];		/* from the next one's, in the cache */
};

struct pd_json_team {
	struct pd_json *main;
	pthread_mutex_t lock;
	pthread_cond_t filled, done;
	struct place *ring;
	struct pd_json_sheet *sheets;	/* as many */
	struct worker *workers;		/* the first is the caller's thread */
	size_t nr_places, nr_workers;
	size_t filling, oldest;		/* indices in the ring */
	unsigned int submitted;		/* counts blocks */
	bool quit, any;
	bool reporting;			/* the caller's thread says what was wrong in a block */
	bool putting;			/* a thread hands blocks to the output */
	int failed;			/* what the output returned when not 0: nothing more goes out */
	char last;			/* that went out */
};

bool pd_json_team_takes(const struct pd_record *r)
{
	return !r->frame.payload && !r->frame.payload_lost && !r->payload.data && r->frame.type != TYPE_HEADER_FEATURE;
}

static struct place *take_filled(struct pd_json_team *t)
{
	for (size_t i = 0; i < t->nr_places; i++) {
		struct place *p = &t->ring[(t->oldest + i) % t->nr_places];

		if (p->state == FILLED) {
			p->state = TAKEN;
			return p;
		}
	}
	return NULL;
}

/* One for a block that was just taken: there are enough. */
static struct pd_json_sheet *take_sheet(struct pd_json_team *t, const struct worker *w)
{
	struct pd_json_sheet *best = &t->sheets[0];

	for (size_t i = 0; i < t->nr_places; i++) {
		struct pd_json_sheet *s = &t->sheets[i];

		if (!s->taken && (best->taken || s->writer == w || (!s->writer && best->writer != w)))
			best = s;
	}
	best->taken = true;
	best->writer = w;
	return best;
}

/* Hands a block's text to the output: 0, or what that returned. */
static int put_text(struct pd_json_team *t, const struct pd_json_block *b)
{
	const struct pd_output *out = &t->main->w.out;

	if (t->failed || b->failed)
		return t->failed ? t->failed : -1;
	return b->sheet->size ? out->write(out->ctx, b->sheet->text + 1, b->sheet->size) : 0;
}

/* Says what was wrong in a block. */
static void report_missing(struct pd_json_team *t, const struct pd_json_block *b)
{
	struct pd_json *j = t->main;

	t->reporting = true;
	j->error_is_written = j->options.shape == PD_JSON_LINES;
	for (size_t i = 0; i < b->nr_missing; i++)
		pd_json_report_missing(j, b->missing[i].offset, b->missing[i].want, b->missing[i].have, b->missing[i].file);
	j->error_is_written = false;
	t->reporting = false;
}

/* Hands out what is done, in order, unless another thread is at it. Only the caller's has a say in what was wrong. Called and left
 * with the lock held. */
static void put_done(struct pd_json_team *t, const struct worker *w)
{
	const bool is_caller = w == &t->workers[0];

	if (t->putting)
		return;
	t->putting = true;
	while (t->ring[t->oldest].state == DONE) {
		struct place *p = &t->ring[t->oldest];
		struct pd_json_sheet *sheet = p->block->sheet;
		int failed;

		if (p->block->nr_missing && !is_caller)
			break;
		pthread_mutex_unlock(&t->lock);
		failed = put_text(t, p->block);
		if (is_caller)
			report_missing(t, p->block);
		pthread_mutex_lock(&t->lock);
		t->failed = failed;
		if (sheet->size)
			t->last = sheet->text[sheet->size];
		sheet->taken = false;
		p->state = FREE;
		t->oldest = (t->oldest + 1) % t->nr_places;
		pthread_cond_broadcast(&t->done);
	}
	t->putting = false;
}

/* A block that is being written, and who is at it. */
struct turn {
	struct worker *worker;
	const struct place *place;
};

/* Text of a block that is not done: goes out when all before it has. */
static int write_in_turn(void *ctx, const void *p, size_t n)
{
	const struct turn *turn = ctx;
	struct pd_json_team *t = turn->worker->team;
	const struct pd_output *out = &t->main->w.out;
	int failed;

	pthread_mutex_lock(&t->lock);
	put_done(t, turn->worker);
	while (&t->ring[t->oldest] != turn->place || t->putting) {
		pthread_cond_wait(&t->done, &t->lock);
		put_done(t, turn->worker);
	}
	failed = t->failed;
	t->putting = true;
	pthread_mutex_unlock(&t->lock);
	if (!failed)
		failed = out->write(out->ctx, p, n);
	pthread_mutex_lock(&t->lock);
	t->failed = failed;
	t->last = ((const char *)p)[n - 1];
	t->putting = false;
	pthread_mutex_unlock(&t->lock);
	return failed;
}

/* Writes the place's block, which is taken. Called and left with the lock held. */
static void write_block(struct pd_json_team *t, struct worker *w, struct place *p)
{
	struct pd_json_sheet *sheet = take_sheet(t, w);
	struct turn turn = { w, p };

	pthread_mutex_unlock(&t->lock);
	pd_json_block_write(p->block, sheet, &w->j, (struct pd_output){ write_in_turn, &turn });
	pthread_mutex_lock(&t->lock);
	p->state = DONE;
}

/* The next block comes soon: going to sleep and being woken takes longer. Called and left with the lock held. */
static void wait_filled(struct pd_json_team *t)
{
	const unsigned int seen = t->submitted;

	pthread_mutex_unlock(&t->lock);
	for (int i = 0; i < SPINS && __atomic_load_n(&t->submitted, __ATOMIC_RELAXED) == seen; i++)
		pd_thread_relax();
	pthread_mutex_lock(&t->lock);
	if (t->submitted == seen && !t->quit)
		pthread_cond_wait(&t->filled, &t->lock);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pd_json_team *t = w->team;

	pthread_mutex_lock(&t->lock);
	while (!t->quit) {
		struct place *p = take_filled(t);

		if (!p) {
			wait_filled(t);
			continue;
		}
		write_block(t, w, p);
		put_done(t, w);
		pthread_cond_broadcast(&t->done);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* Works or waits until the oldest block is out of the way. With the lock held. */
static void help(struct pd_json_team *t)
{
	struct place *p = take_filled(t);

	if (p)
		write_block(t, &t->workers[0], p);
	else if (t->ring[t->oldest].state == TAKEN || t->putting)
		pthread_cond_wait(&t->done, &t->lock);
	put_done(t, &t->workers[0]);
}

/* The caller's writer learns what went out beside it. With the lock held. */
static int catch_up(struct pd_json_team *t)
{
	struct pd_jsonw *w = &t->main->w;

	if (t->failed && !w->failed)
		w->failed = t->failed;
	if (t->last)
		w->at[-1] = t->last;
	t->last = '\0';
	return w->failed;
}

/* The block being filled goes to the threads, once the next one is free: a ring that is full has just one left. */
static int submit(struct pd_json_team *t)
{
	const size_t next = (t->filling + 1) % t->nr_places;
	int failed;

	pd_jsonw_flush(&t->main->w);	/* goes out before; if there is something, no thread is at work */
	pthread_mutex_lock(&t->lock);
	put_done(t, &t->workers[0]);
	while (t->oldest == next)
		help(t);
	pd_json_block_empty(t->ring[next].block);
	t->ring[t->filling].state = FILLED;
	__atomic_store_n(&t->submitted, t->submitted + 1, __ATOMIC_RELAXED);
	t->filling = next;
	failed = catch_up(t);
	pthread_cond_signal(&t->filled);
	pthread_mutex_unlock(&t->lock);
	return failed;
}

/* Something was added. */
static void note_first(struct pd_json_team *t)
{
	if (!t->any)
		t->ring[t->filling].block->first = t->any = true;
}

int pd_json_team_add(struct pd_json_team *t, const struct pd_record *r)
{
	int added;

	while ((added = pd_json_block_add(t->ring[t->filling].block, r)) == 0)
		if (submit(t))
			return t->main->w.failed;
	if (added < 0)
		return -1;
	note_first(t);
	return 0;
}

int pd_json_team_add_run(struct pd_json_team *t, struct pd_run *run)
{
	while (run->next < run->count) {
		pd_json_block_add_run(t->ring[t->filling].block, run, t->main->reader);
		note_first(t);
		if (run->next < run->count && submit(t))
			return t->main->w.failed;
	}
	return 0;
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
		pd_tally_add(&all->tally, &c->tally);
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
	put_done(t, &t->workers[0]);
	while (t->oldest != t->filling)
		help(t);
	failed = catch_up(t);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; i < t->nr_places; i++)
		pd_json_block_empty(t->ring[i].block);
	collect_counts(t);
	return failed;
}

static int start_worker(struct pd_json_team *t, struct worker *w, bool own_thread)
{
	w->team = t;
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
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
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
	pthread_cond_init(&t->filled, NULL);
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
	pthread_cond_broadcast(&t->filled);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; t->workers && i < t->nr_workers; i++) {
		struct worker *w = &t->workers[i];

		if (w->started)
			pthread_join(w->thread, NULL);
		pd_arena_free(&w->j.arena);
	}
	for (size_t i = 0; t->ring && i < t->nr_places; i++)
		pd_json_block_free(t->ring[i].block);
	for (size_t i = 0; t->sheets && i < t->nr_places; i++)
		free(t->sheets[i].text);
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->filled);
	pthread_mutex_destroy(&t->lock);
	free(t->sheets);
	free(t->ring);
	free(t->workers);
	free(t);
}
