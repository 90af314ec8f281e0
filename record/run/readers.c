/* readers.c - threads that read buffers.
 *
 * A thread knows its own reader and nothing of the recording. What it tells meanwhile is its size
 * and, by an eventfd, that it failed; all else is looked at when it was joined.
 */
#include "run/readers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "event/attr.h"
#include "event/event_aux.h"

enum {
	WAIT_MS = 500,		/* as long as the loop's */
	EVENTS_AT_ONCE = 16,
};

struct reader {
	pthread_t thread;
	struct ring **rings;		/* borrowed */
	size_t nr_rings;
	int fd, epoll, stop, alarm;	/* the last two are borrowed */
	struct pd_writer *writer;
	uint64_t size;			/* bytes written: atomic */
	uint64_t least;			/* bytes that are worth while */
	bool read_back;			/* samples are counted later */
	struct tally tally;
	uint64_t woken;
	struct pd_error error;		/* once `failed` */
	bool failed;
};

struct readers {
	struct reader *items;
	size_t n;
	size_t running;			/* the first so many */
	int stop, alarm;
};

int readers_choose(struct recording *r)
{
	const struct settings *o = r->options;
	const char *other = o->per_thread ? "--per-thread" : o->switch_output ? "--switch-output" :
			    o->rotate_triggers.count ? "--switch-output-event" :
			    o->exclude_self ? "--exclude-perf" :
			    events_have_aux(&r->events) ? "an AUX area" :
			    events_have_flag(&r->events, ATTR_WRITE_BACKWARD) ? "--overwrite" : NULL;
	int err;

	if (!o->threads)
		return 0;
	if (other)
		return log_error(&r->log, CLI_USAGE, "'--threads' and %s exclude each other: %s",
				 other, o->per_thread ? "threads read the buffers of cpus" :
				 r->switches ? "there is one directory" :
				 o->exclude_self ? "it knows only the recorder's first thread" :
				 "threads read buffers as they fill, not when asked");
	err = cpu_groups_read(&r->groups, o->threads, &r->target.cpus, &r->log);
	return err ? err : cpu_groups_add_rest(&r->groups, target_all_cpus(&r->target), &r->log);
}

/* --- in the thread ------------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int take(struct reader *t, struct ring *ring, uint64_t least)
{
	struct pd_bytes spans[2];
	size_t n = ring_peek(ring, spans), size = spans_size(spans, n);
	int got;

	if (!n || size < least)
		return 0;
	got = pd_writer_write(t->writer, spans, n, &t->error);
	if (t->read_back)
		t->tally.bytes += size;
	else
		tally_add(&t->tally, spans, n);
	ring_release(ring);
	return got;
}

static int take_all(struct reader *t, uint64_t least)
{
	for (size_t i = 0; i < t->nr_rings; i++)
		if (take(t, t->rings[i], least))
			return -1;
	return 0;
}

/* Whether it is to stop. A counter whose thread ended has nothing to say any more. */
static bool wait_for_records(struct reader *t, int ms)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(t->epoll, events, EVENTS_AT_ONCE, ms);
	bool stop = false, woken = false;

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == t->stop)
			stop = true;
		else if (events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(t->epoll, EPOLL_CTL_DEL, events[i].data.fd, NULL);
		woken = woken || events[i].data.fd != t->stop;
	}
	t->woken += woken;
	return stop;
}

static void tell_size(struct reader *t)
{
	__atomic_store_n(&t->size, pd_writer_size(t->writer), __ATOMIC_RELAXED);
}

static int read_on(struct reader *t)
{
	uint64_t flushed = now_ms(), waited = 0;
	bool stop = false;

	while (!stop) {
		stop = wait_for_records(t, (int)(WAIT_MS - waited));
		if (take_all(t, stop ? 1 : t->least))
			return -1;
		waited = now_ms() - flushed;
		if (waited >= WAIT_MS) {
			if (pd_writer_flush_soon(t->writer, &t->error))
				return -1;
			flushed += waited;
			waited = 0;
		}
		tell_size(t);
	}
	return pd_writer_finish(t->writer, &t->error);
}

static void *run(void *reader)
{
	struct reader *t = reader;

	t->failed = read_on(t) != 0;
	tell_size(t);
	if (t->failed)
		eventfd_write(t->alarm, 1);
	return NULL;
}

/* --- around it ----------------------------------------------------------------------------------- */

static bool has(const struct int_list *l, int item)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i] == item)
			return true;
	return false;
}

static int watch(const struct reader *t, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e);
}

/* Its buffers, and the counters that wake it: of threads that end all, as one may own the buffer
 * of others. */
static int give_buffers(struct reader *t, struct recording *r, const struct cpu_group *g)
{
	t->rings = calloc(r->rings.n, sizeof(*t->rings));
	if (!t->rings)
		return -1;
	for (size_t i = 0; i < r->rings.n; i++) {
		struct ring *ring = &r->rings.items[i];

		if (!has(&g->cpus, ring->cpu))
			continue;
		t->rings[t->nr_rings++] = ring;
		if (r->target.kind != TARGET_THREADS && watch(t, ring->fd))
			return -1;
	}
	for (size_t i = 0; i < r->counters.n && r->target.kind == TARGET_THREADS; i++)
		if (has(&g->cpus, r->counters.items[i].cpu) && watch(t, r->counters.items[i].fd))
			return -1;
	return 0;
}

static int open_reader(struct recording *r, size_t n)
{
	struct readers *team = r->readers;
	struct reader *t = &team->items[n];
	const struct pd_writer_options *o = PD_WRITER_OPTIONS(.mode = PD_MODE_DIRECTORY,
							      .compress = r->file.compress);

	*t = (struct reader){
		.fd = -1, .epoll = -1, .stop = team->stop, .alarm = team->alarm,
		.least = r->options->mmap_flush, .read_back = r->file.read_back,
	};
	team->n = n + 1;
	t->fd = datafile_open_part(&r->file, n);
	if (t->fd < 0)
		return log_error(&r->log, CLI_OUTPUT, "%s/data.%zu: %s", r->file.path, n,
				 strerror(errno));
	t->writer = pd_writer_open_fd(t->fd, o, &r->file.error);
	if (!t->writer || pd_writer_begin(t->writer, &r->file.error))
		return datafile_failed(&r->file, &r->log);
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll < 0 || watch(t, t->stop) || give_buffers(t, r, &r->groups.items[n]))
		return log_error(&r->log, CLI_INPUT, "can't wait for events: %s",
				 strerror(errno));
	return 0;
}

static int start_on(struct reader *t, const struct int_list *cpus)
{
	int most = cpus->items[cpus->n - 1] + 1;	/* they ascend */
	size_t size = CPU_ALLOC_SIZE(most);
	cpu_set_t *set = CPU_ALLOC(most);
	pthread_attr_t attr;
	int got;

	if (!set)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	for (size_t i = 0; i < cpus->n; i++)
		CPU_SET_S((size_t)cpus->items[i], size, set);
	pthread_attr_init(&attr);
	got = pthread_attr_setaffinity_np(&attr, size, set);
	if (!got)
		got = pthread_create(&t->thread, &attr, run, t);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return got;
}

/* Where it may not run as it should it runs anywhere. */
static int start_thread(struct recording *r, size_t n)
{
	struct reader *t = &r->readers->items[n];
	int error = start_on(t, &r->groups.items[n].run_on);

	if (error) {
		log_at(&r->log, LOG_DETAIL, "thread %zu runs on any cpu: %s", n, strerror(error));
		error = pthread_create(&t->thread, NULL, run, t);
	}
	if (error)
		return log_error(&r->log, CLI_INPUT, "no thread: %s", strerror(error));
	r->readers->running++;
	return 0;
}

int readers_start(struct recording *r)
{
	struct readers *team = calloc(1, sizeof(*team));
	int got = 0;

	if (team)
		team->items = calloc(r->groups.n, sizeof(*team->items));
	if (!team || !team->items) {
		free(team);
		return log_error(&r->log, CLI_OUTPUT, "out of memory");
	}
	r->readers = team;
	team->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	team->alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (team->stop < 0 || team->alarm < 0)
		got = log_error(&r->log, CLI_INPUT, "no eventfd: %s", strerror(errno));
	for (size_t i = 0; i < r->groups.n && !got; i++)
		got = open_reader(r, i);
	for (size_t i = 0; i < r->groups.n && !got; i++)
		got = start_thread(r, i);
	if (!got)
		log_at(&r->log, LOG_DETAIL, "%zu threads read", team->running);
	return got;
}

int readers_alarm(const struct readers *t)
{
	return t->alarm;
}

uint64_t readers_size(const struct readers *t)
{
	uint64_t size = 0;

	for (size_t i = 0; t && i < t->n; i++)
		size += __atomic_load_n(&t->items[i].size, __ATOMIC_RELAXED);
	return size;
}

static void collect(struct recording *r, struct reader *t)
{
	if (t->failed)
		datafile_abort(&r->file, t->writer);
	else
		r->file.readable += t->size;
	r->file.tally.bytes += t->tally.bytes;
	r->file.tally.samples += t->tally.samples;
	r->file.tally.lost_records += t->tally.lost_records;
	r->file.parts += t->size;
	r->woken += t->woken;
	if (t->failed)
		r->file.error = t->error;
}

static int close_reader(struct reader *t)
{
	pd_writer_free(t->writer);
	free(t->rings);
	if (t->epoll >= 0)
		close(t->epoll);
	return t->fd >= 0 && close(t->fd) ? errno : 0;
}

int readers_stop(struct recording *r)
{
	struct readers *team = r->readers;
	int got = 0;

	if (!team)
		return 0;
	eventfd_write(team->stop, 1);
	for (size_t i = 0; i < team->n; i++) {
		struct reader *t = &team->items[i];
		int error;

		if (i < team->running) {
			pthread_join(t->thread, NULL);
			collect(r, t);
			got = t->failed ? -1 : got;
		}
		error = close_reader(t);
		if (error && !got) {
			r->file.error = (struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL,
							   .have = (uint64_t)error };
			got = -1;
		}
	}
	close(team->stop);
	close(team->alarm);
	free(team->items);
	free(team);
	r->readers = NULL;
	return got;
}
