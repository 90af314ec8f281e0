/* synth_readers.c - a window of tasks that threads fill and the caller empties in order. */
#include "synth_readers.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define WINDOW 64
#define MAX_THREADS 16
#define PAYS 128	/* processes for which one more thread is worth its start */

struct slot {
	struct task task;
	enum { EMPTY, FULL, GONE } state;
};

struct synth_readers {
	const unsigned int *pids;
	size_t n, taken, given;		/* by readers, to the caller */
	unsigned int want, timeout_ms;
	int proc;
	bool stop, held;		/* held: the caller still has the one before `given` */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads;
	struct slot slots[WINDOW];
};

/* A slot is a reader's from taken++ until its state is set, the caller's from then on. */
static void *reader(void *arg)
{
	struct synth_readers *r = arg;

	pthread_mutex_lock(&r->lock);
	while (!r->stop && r->taken < r->n) {
		struct slot *s;
		size_t i = r->taken;
		bool there;

		if (i >= r->given + WINDOW - (r->held ? 1 : 0)) {
			pthread_cond_wait(&r->changed, &r->lock);
			continue;
		}
		r->taken++;
		pthread_mutex_unlock(&r->lock);
		s = &r->slots[i % WINDOW];
		there = task_read(&s->task, r->proc, (pid_t)r->pids[i], r->want, r->timeout_ms);
		pthread_mutex_lock(&r->lock);
		s->state = there ? FULL : GONE;
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static unsigned int worth(size_t n)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = n / PAYS;

	if (cpus < 2)
		return 0;
	return (unsigned int)(threads < (size_t)cpus ? threads : (size_t)cpus);
}

/* Signals stay the caller's thread's. */
static void start_threads(struct synth_readers *r, unsigned int nr)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (r->nr_threads < nr && r->nr_threads < MAX_THREADS &&
	       pthread_create(&r->threads[r->nr_threads], NULL, reader, r) == 0)
		r->nr_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct synth_readers *synth_readers_start(const unsigned int *pids, size_t n, unsigned int want,
					  unsigned int timeout_ms, unsigned int nr)
{
	struct synth_readers *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->pids = pids;
	r->n = n;
	r->want = want;
	r->timeout_ms = timeout_ms;
	r->proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	if (nr == 0)
		nr = worth(n);
	if (nr > 1)
		start_threads(r, nr);
	return r;
}

static const struct task *next_threaded(struct synth_readers *r)
{
	const struct task *found = NULL;

	pthread_mutex_lock(&r->lock);
	if (r->held) {
		r->held = false;
		pthread_cond_broadcast(&r->changed);
	}
	while (!found && r->given < r->n) {
		struct slot *s = &r->slots[r->given % WINDOW];

		if (s->state == EMPTY) {
			pthread_cond_wait(&r->changed, &r->lock);
			continue;
		}
		if (s->state == FULL)
			found = &s->task;
		s->state = EMPTY;
		r->held = found != NULL;
		r->given++;
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return found;
}

const struct task *synth_readers_next(struct synth_readers *r)
{
	if (r->nr_threads)
		return next_threaded(r);
	while (r->given < r->n) {
		struct slot *s = &r->slots[0];

		if (task_read(&s->task, r->proc, (pid_t)r->pids[r->given++], r->want,
			      r->timeout_ms))
			return &s->task;
	}
	return NULL;
}

void synth_readers_stop(struct synth_readers *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	for (unsigned int i = 0; i < r->nr_threads; i++)
		pthread_join(r->threads[i], NULL);
	for (size_t i = 0; i < WINDOW; i++)
		task_release(&r->slots[i].task);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	if (r->proc >= 0)
		close(r->proc);
	free(r);
}
