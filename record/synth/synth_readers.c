/* synth_readers.c - a window of tasks that threads fill and the caller empties in order. */
#include "synth/synth_readers.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "process/tool_thread.h"

#define WINDOW 64
#define CHUNK 16	/* tasks that a reader takes at once: a wakeup costs as much as a task */
#define MAX_THREADS 16
#define PROCESSES_PER_THREAD 128	/* fewer do not pay for starting another thread */

struct slot {
	struct task task;
	enum { EMPTY, FULL, GONE } state;
};

struct synth_readers {
	const unsigned int *pids;
	size_t n, taken, given;		/* taken by readers; given to the caller */
	unsigned int want, timeout_ms;
	int proc;
	bool stop;
	bool lent;			/* the caller has the task before `given` */
	pthread_mutex_t lock;
	pthread_cond_t next, room;	/* the next task is read; slots are free */
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads;
	struct slot slots[WINDOW];
};

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Unlocks while reading: a reader owns the slots that it has taken, until it sets their state. */
static void read_chunk(struct synth_readers *r, size_t first, size_t n)
{
	bool exists[CHUNK];

	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < n; i++)
		exists[i] = !__atomic_load_n(&r->stop, __ATOMIC_RELAXED) &&
			   task_read(&r->slots[(first + i) % WINDOW].task, r->proc,
				     (pid_t)r->pids[first + i], r->want, r->timeout_ms);
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < n; i++)
		r->slots[(first + i) % WINDOW].state = exists[i] ? FULL : GONE;
	if (r->given >= first && r->given < first + n)
		pthread_cond_signal(&r->next);
}

static void *reader_thread(void *arg)
{
	struct synth_readers *r = arg;

	pthread_mutex_lock(&r->lock);
	while (!r->stop && r->taken < r->n) {
		size_t first = r->taken, n = min_size(CHUNK, r->n - first);

		if (first + n > r->given + WINDOW - (r->lent ? 1 : 0)) {
			pthread_cond_wait(&r->room, &r->lock);
			continue;
		}
		r->taken += n;
		read_chunk(r, first, n);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static unsigned int default_threads(size_t n)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 2 ? 0 : (unsigned int)min_size(n / PROCESSES_PER_THREAD, (size_t)cpus);
}

static void start_threads(struct synth_readers *r, unsigned int nr)
{
	while (r->nr_threads < nr && r->nr_threads < MAX_THREADS &&
	       tool_thread_start(&r->threads[r->nr_threads], reader_thread, r) == 0)
		r->nr_threads++;
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
	pthread_cond_init(&r->next, NULL);
	pthread_cond_init(&r->room, NULL);
	if (nr == 0)
		nr = default_threads(n);
	if (nr > 1)
		start_threads(r, nr);
	return r;
}

/* Wakes waiting readers once half of the window is free. */
static void wake_readers(struct synth_readers *r)
{
	if (r->taken - r->given <= WINDOW / 2)
		pthread_cond_broadcast(&r->room);
}

static const struct task *next_threaded(struct synth_readers *r)
{
	const struct task *found = NULL;

	pthread_mutex_lock(&r->lock);
	r->lent = false;
	wake_readers(r);
	while (!found && r->given < r->n) {
		struct slot *s = &r->slots[r->given % WINDOW];

		if (s->state == EMPTY) {
			pthread_cond_wait(&r->next, &r->lock);
			continue;
		}
		if (s->state == FULL)
			found = &s->task;
		s->state = EMPTY;
		r->lent = found != NULL;
		r->given++;
		wake_readers(r);
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
	__atomic_store_n(&r->stop, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&r->room);
	pthread_mutex_unlock(&r->lock);
	for (unsigned int i = 0; i < r->nr_threads; i++)
		pthread_join(r->threads[i], NULL);
	for (size_t i = 0; i < WINDOW; i++)
		task_release(&r->slots[i].task);
	pthread_cond_destroy(&r->room);
	pthread_cond_destroy(&r->next);
	pthread_mutex_destroy(&r->lock);
	if (r->proc >= 0)
		close(r->proc);
	free(r);
}
