/* stats_workers.c - counts one file with several threads: see stats_workers.h. */
#include "stats/stats_workers.h"

#include <stdlib.h>

#include "base/thread.h"
#include "reader/speculative_reader.h"

#define PART (4u << 20)		/* bytes */
#define ALL_PARTS (32u << 20)	/* of all threads together: as much of the file is in memory */
#define MOST_THREADS 64
#define ALONE (4u << 20)	/* bytes that the reader reads first: most of what teaches it something stands at the start */
#define MISSES 4		/* parts, of no use in the end, after which no more are tried for a while */

/* Some MB of the file, and what was counted there. */
struct part {
	enum { FREE, TAKEN, DONE } state;
	struct pd_segment found;
	struct pd_stats_counts counts;
	uint64_t dropped, samples;	/* of the filter's counts */
	bool joined;
};

struct worker {
	struct pd_stats_team *team;
	struct pd_speculative_reader *branch;
	struct pd_filter *filter;	/* NULL: there is none */
	pthread_t thread;
	bool started;
};

struct pd_stats_team {
	struct pd_reader *reader;
	struct pd_stats_counts *counts;
	struct pd_filter *filter;
	uint64_t alone;			/* bytes to be read before it begins */
	uint64_t until;			/* offset that the reader has to reach before there is something to do; 0: not known yet */
	bool begun;
	/* from then on: */
	struct worker *workers;		/* the first is the caller's thread */
	struct part *ring;
	size_t nr_workers, nr_places;
	size_t part_size;
	uint64_t first;			/* offset of the first part */
	size_t nr_parts;
	size_t oldest;			/* part that the reader is at; the ring begins with it */
	size_t joined, missed;
	/* Under the lock: the states of parts, and */
	pthread_mutex_t lock;
	pthread_cond_t done;		/* a part is */
	pthread_cond_t room;		/* for one more */
	size_t next;			/* part that nobody has taken */
	struct pd_sample_head before;	/* not long before the oldest part */
	bool quit;
};

static void set_until(struct pd_stats_team *t, uint64_t offset)
{
	t->until = offset;
	pd_reader_batch_until(t->reader, offset ? offset : UINT64_MAX);
}

static uint64_t end_of(const struct pd_stats_team *t, size_t part)
{
	return t->first + (part + 1) * (uint64_t)t->part_size;
}

static bool is_told_to_quit(struct pd_stats_team *t)
{
	return __atomic_load_n(&t->quit, __ATOMIC_RELAXED);
}

/* 0, or -1: no memory. */
static int count(struct worker *w, struct part *p)
{
	for (;;) {
		struct pd_batch *batch = is_told_to_quit(w->team) ? NULL : pd_speculative_reader_batch(w->branch);
		const struct pd_record *record = batch ? NULL : pd_speculative_reader_next(w->branch);

		if (!batch && !record)
			return 0;
		if (batch ? pd_stats_counts_batch(&p->counts, w->filter, batch, pd_speculative_reader_session(w->branch)) :
			  pd_stats_counts_record(&p->counts, w->filter, record))
			return -1;
	}
}

static void count_part(struct worker *w, struct part *p, size_t number, const struct pd_sample_head *before)
{
	const uint64_t dropped = w->filter ? pd_filter_dropped(w->filter) : 0, end = end_of(w->team, number);
	const uint64_t samples = w->filter ? pd_filter_samples(w->filter) : 0;

	pd_stats_counts_reset(&p->counts);
	p->joined = false;
	p->found = (struct pd_segment){ .begin = 0 };
	if (pd_speculative_reader_find_segment(w->branch, end - w->team->part_size, end, before) && count(w, p) == 0)
		p->found = *pd_speculative_reader_segment(w->branch);
	p->dropped = w->filter ? pd_filter_dropped(w->filter) - dropped : 0;
	p->samples = w->filter ? pd_filter_samples(w->filter) - samples : 0;
}

/* Called and left with the lock held. False: there is nothing to take. */
static bool work_once(struct pd_stats_team *t, struct worker *w)
{
	const size_t number = t->next;
	const struct pd_sample_head before = t->before;
	struct part *p = &t->ring[number % t->nr_places];

	if (number == t->nr_parts || number - t->oldest == t->nr_places)
		return false;
	t->next++;
	p->state = TAKEN;
	pthread_mutex_unlock(&t->lock);
	count_part(w, p, number, &before);
	pthread_mutex_lock(&t->lock);
	p->state = DONE;
	pthread_cond_signal(&t->done);
	return true;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pd_stats_team *t = w->team;

	pthread_mutex_lock(&t->lock);
	while (!t->quit)
		if (!work_once(t, w))
			pthread_cond_wait(&t->room, &t->lock);
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static void end(struct pd_stats_team *t)
{
	pthread_mutex_lock(&t->lock);
	__atomic_store_n(&t->quit, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&t->room);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; i < t->nr_workers; i++) {
		if (t->workers[i].started)
			pthread_join(t->workers[i].thread, NULL);
		t->workers[i].started = false;
	}
	for (size_t i = 0; i < t->nr_workers; i++) {
		pd_speculative_reader_free(t->workers[i].branch);
		pd_filter_free(t->workers[i].filter);
		t->workers[i].branch = NULL;
		t->workers[i].filter = NULL;
	}
	t->quit = t->begun = false;
}

/* The reader goes on alone: for a while, if it was no help before. */
static void retreat(struct pd_stats_team *t)
{
	if (t->begun) {
		t->alone = t->joined > MISSES ? ALONE : 2 * t->alone;
		end(t);
	}
	set_until(t, 0);
}

/* What is known of the file may change, or another begins. */
static void before_update(void *ctx)
{
	retreat(ctx);
}

/* The threads start when all have what they need: who makes a branch may change what the others look at. */
static int start_workers(struct pd_stats_team *t)
{
	for (size_t i = 0; i < t->nr_workers; i++) {
		struct worker *w = &t->workers[i];

		w->team = t;
		w->branch = pd_speculative_reader_new(t->reader, t->part_size);
		w->filter = t->filter ? pd_filter_clone(t->filter) : NULL;
		if (!w->branch || (t->filter && !w->filter))
			return -1;
	}
	for (size_t i = 1; i < t->nr_workers; i++) {
		t->workers[i].started = !pd_thread_start(&t->workers[i].thread, work, &t->workers[i]);
		if (!t->workers[i].started)
			return -1;
	}
	return 0;
}

/* From offset `at` on. If it is not worth it, or can't be, the reader stays alone. */
static void begin(struct pd_stats_team *t, uint64_t at)
{
	const uint64_t left = pd_reader_end(t->reader) - at;

	set_until(t, UINT64_MAX);
	if (pd_reader_end(t->reader) < at || left < 2 * PART || left / t->part_size > SIZE_MAX / 2)
		return;
	t->begun = true;
	t->first = at;
	t->nr_parts = (size_t)((left + t->part_size - 1) / t->part_size);
	t->oldest = t->next = t->joined = t->missed = 0;
	if (start_workers(t))
		end(t);
	else
		set_until(t, at);
}

/* The reader is behind the oldest part. False: parts are of no use here. */
static bool leave_part(struct pd_stats_team *t)
{
	const struct part *p = &t->ring[t->oldest % t->nr_places];

	t->joined += p->joined;
	t->missed += !p->joined;
	t->oldest++;
	pthread_cond_signal(&t->room);
	return t->missed <= MISSES || t->missed <= t->joined;
}

/* Adds what was counted in the part that begins here. */
static int join(struct pd_stats_team *t, struct part *p)
{
	p->joined = pd_reader_adopt(t->reader, &p->found);
	if (!p->joined)
		return 0;
	if (t->filter)
		pd_filter_add_counts(t->filter, p->dropped, p->samples);
	return pd_stats_counts_add(t->counts, &p->counts);
}

/* What there is to do before the reader reads on: 0, or -1: no memory. With the lock held, from offset `at`. */
static int pass(struct pd_stats_team *t, uint64_t at)
{
	for (;;) {
		struct part *p = &t->ring[t->oldest % t->nr_places];

		if (t->oldest == t->nr_parts) {
			set_until(t, UINT64_MAX);
			return 0;
		}
		if (t->oldest == t->next || p->state != DONE) {
			if (!work_once(t, &t->workers[0]))
				pthread_cond_wait(&t->done, &t->lock);
			continue;
		}
		if (!p->joined && p->found.begin == at && join(t, p))
			return -1;
		if (p->joined && p->found.end > at)
			at = p->found.end;
		if (at < end_of(t, t->oldest)) {	/* the reader's own */
			set_until(t, p->found.begin > at ? p->found.begin : end_of(t, t->oldest));
			return 0;
		}
		if (!leave_part(t)) {
			set_until(t, 0);
			return 0;
		}
	}
}

int pd_stats_team_go_on(struct pd_stats_team *t)
{
	struct pd_sample_head before;
	uint64_t at;
	int failed;

	if (!t || !pd_reader_position(t->reader, &at, &before) || at < t->until)
		return 0;
	if (!t->until) {
		set_until(t, at + t->alone);
		return 1;
	}
	if (!t->begun) {
		begin(t, at);
		return 1;
	}
	pthread_mutex_lock(&t->lock);
	t->before = before;
	failed = pass(t, at);
	pthread_mutex_unlock(&t->lock);
	if (!t->until)
		retreat(t);
	return failed ? -1 : 1;
}

struct pd_stats_team *pd_stats_team_new(struct pd_reader *r, struct pd_stats_counts *counts, struct pd_filter *filter,
					unsigned int threads)
{
	struct pd_stats_team *t = threads > 1 ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return NULL;
	if (threads > MOST_THREADS)
		threads = MOST_THREADS;
	t->reader = r;
	t->counts = counts;
	t->filter = filter;
	t->alone = ALONE;
	t->nr_workers = threads;
	t->nr_places = 2 * (size_t)threads;
	t->part_size = threads <= ALL_PARTS / PART ? PART : ALL_PARTS / threads & ~(size_t)7;
	t->workers = calloc(t->nr_workers, sizeof(*t->workers));
	t->ring = calloc(t->nr_places, sizeof(*t->ring));
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->done, NULL);
	pthread_cond_init(&t->room, NULL);
	if (!t->workers || !t->ring) {
		pd_stats_team_free(t);
		return NULL;
	}
	for (size_t i = 0; i < t->nr_places; i++)
		pd_stats_counts_init(&t->ring[i].counts);
	pd_reader_before_update(r, before_update, t);
	return t;
}

void pd_stats_team_free(struct pd_stats_team *t)
{
	if (!t)
		return;
	if (t->begun)
		end(t);
	pd_reader_before_update(t->reader, NULL, NULL);
	for (size_t i = 0; t->ring && i < t->nr_places; i++)
		pd_stats_counts_free(&t->ring[i].counts);
	pthread_cond_destroy(&t->room);
	pthread_cond_destroy(&t->done);
	pthread_mutex_destroy(&t->lock);
	free(t->ring);
	free(t->workers);
	free(t);
}
