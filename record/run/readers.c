/* readers.c - threads that drain ring buffers.
 *
 * A thread accesses its own struct reader only. While it runs, the main thread sees its size and,
 * by an eventfd, its failure; all else is read after the thread was joined.
 */
#include "run/readers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "process/clock.h"
#include "event/attr.h"
#include "event/event_aux.h"

enum {
	WAIT_MS = 500,		/* as in loop.c */
	EVENTS_AT_ONCE = 16,
};

struct reader {
	pthread_t thread;
	struct ring **rings;		/* borrowed */
	size_t nr_rings;
	int fd, epoll;
	int stop_fd, failed_fd;		/* eventfds of all readers, borrowed */
	struct pd_writer *writer;
	uint64_t size;			/* bytes written: atomic */
	uint64_t least;			/* bytes; buffers with less are left for later */
	bool read_back;			/* samples are counted when the file is read back */
	struct drain_totals totals;
	uint64_t woken;
	struct pd_error error;		/* valid if `failed` */
	bool failed;
};

struct readers {
	struct reader *items;
	size_t n;
	size_t running;			/* items[0..running) have a thread */
	int stop_fd, failed_fd;
};

int readers_choose(struct recording *r)
{
	const struct settings *o = r->options;
	const bool overwrites = events_have_flag(&r->events, ATTR_WRITE_BACKWARD);
	const char *other = o->per_thread ? "--per-thread" : o->switch_output ? "--switch-output" :
			    o->rotate_triggers.count ? "--switch-output-event" :
			    o->exclude_self ? "--exclude-perf" :
			    events_have_aux(&r->events) ? "an AUX area" :
			    overwrites ? "--overwrite" : NULL;
	int err;

	if (!o->threads)
		return 0;
	if (other)
		return log_error(&r->log, CLI_USAGE, "'--threads' and %s exclude each other: %s",
				 other, o->per_thread ? "threads read the buffers of CPUs" :
				 r->rotates ? "there is one directory" :
				 o->exclude_self ? "it knows only the recorder's first thread" :
				 "threads read buffers as they fill, not when asked");
	err = cpu_groups_read(&r->groups, o->threads, &r->target.cpus, &r->log);
	return err ? err : cpu_groups_add_rest(&r->groups, target_all_cpus(&r->target), &r->log);
}

/* --- in a reader's thread ------------------------------------------------------------------- */

static int drain_ring(struct reader *t, struct ring *ring, uint64_t least)
{
	struct pd_bytes spans[2];
	size_t n = ring_peek(ring, spans), size = spans_size(spans, n);
	int err;

	if (!n || size < least)
		return 0;
	err = pd_writer_write(t->writer, spans, n, &t->error);
	if (t->read_back)
		t->totals.bytes += size;
	else
		drain_totals_add(&t->totals, spans, n);
	ring_release(ring);
	return err;
}

static int drain_rings(struct reader *t, uint64_t least)
{
	for (size_t i = 0; i < t->nr_rings; i++)
		if (drain_ring(t, t->rings[i], least))
			return -1;
	return 0;
}

/* Returns whether the thread must stop. Counters whose thread ended are no longer watched. */
static bool wait_for_records(struct reader *t, int ms)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(t->epoll, events, EVENTS_AT_ONCE, ms);
	bool stop = false, woken = false;

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == t->stop_fd)
			stop = true;
		else if (events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(t->epoll, EPOLL_CTL_DEL, events[i].data.fd, NULL);
		woken = woken || events[i].data.fd != t->stop_fd;
	}
	t->woken += woken;
	return stop;
}

static void publish_size(struct reader *t)
{
	__atomic_store_n(&t->size, pd_writer_size(t->writer), __ATOMIC_RELAXED);
}

static int read_until_stopped(struct reader *t)
{
	uint64_t flushed = clock_ms(), waited = 0;
	bool stop = false;

	while (!stop) {
		stop = wait_for_records(t, (int)(WAIT_MS - waited));
		if (drain_rings(t, stop ? 1 : t->least))
			return -1;
		waited = clock_ms() - flushed;
		if (waited >= WAIT_MS) {
			if (pd_writer_flush_soon(t->writer, &t->error))
				return -1;
			flushed += waited;
			waited = 0;
		}
		publish_size(t);
	}
	return pd_writer_finish(t->writer, &t->error);
}

static void *reader_thread(void *reader)
{
	struct reader *t = reader;

	t->failed = read_until_stopped(t) != 0;
	publish_size(t);
	if (t->failed)
		eventfd_write(t->failed_fd, 1);
	return NULL;
}

/* --- in the main thread --------------------------------------------------------------------- */

static int watch_fd(const struct reader *t, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e);
}

/* Sets the buffers of a reader, and the counters that wake it. For threads these are all counters:
 * the owner of a shared buffer may end before the others. */
static int assign_buffers(struct reader *t, struct recording *r, const struct cpu_group *g)
{
	t->rings = calloc(r->rings.n, sizeof(*t->rings));
	if (!t->rings)
		return -1;
	for (size_t i = 0; i < r->rings.n; i++) {
		struct ring *ring = &r->rings.items[i];

		if (!int_list_has(&g->cpus, ring->cpu))
			continue;
		t->rings[t->nr_rings++] = ring;
		if (r->target.kind != TARGET_THREADS && watch_fd(t, ring->fd))
			return -1;
	}
	for (size_t i = 0; i < r->counters.n && r->target.kind == TARGET_THREADS; i++)
		if (int_list_has(&g->cpus, r->counters.items[i].cpu) &&
		    watch_fd(t, r->counters.items[i].fd))
			return -1;
	return 0;
}

static int open_reader(struct recording *r, size_t n)
{
	struct readers *readers = r->readers;
	struct reader *t = &readers->items[n];
	const struct pd_writer_options *o = PD_WRITER_OPTIONS(.mode = PD_MODE_DIRECTORY,
							      .compress = r->file.compress);

	*t = (struct reader){
		.fd = -1, .epoll = -1, .stop_fd = readers->stop_fd, .failed_fd = readers->failed_fd,
		.least = rings_worthwhile(&r->rings), .read_back = r->file.read_back,
	};
	readers->n = n + 1;
	t->fd = datafile_open_part(&r->file, n);
	if (t->fd < 0)
		return log_error(&r->log, CLI_OUTPUT, "%s/data.%zu: %s", r->file.path, n,
				 strerror(errno));
	t->writer = pd_writer_open_fd(t->fd, o, &r->file.error);
	if (!t->writer || pd_writer_begin(t->writer, &r->file.error))
		return datafile_failed(&r->file, &r->log);
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll < 0 || watch_fd(t, t->stop_fd) || assign_buffers(t, r, &r->groups.items[n]))
		return log_error(&r->log, CLI_INPUT, "can't wait for events: %s",
				 strerror(errno));
	return 0;
}

static int create_thread_on(struct reader *t, const struct int_list *cpus)
{
	int most = cpus->items[cpus->n - 1] + 1;	/* sorted */
	size_t size = CPU_ALLOC_SIZE(most);
	cpu_set_t *set = CPU_ALLOC(most);
	pthread_attr_t attr;
	int err;

	if (!set)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	for (size_t i = 0; i < cpus->n; i++)
		CPU_SET_S((size_t)cpus->items[i], size, set);
	pthread_attr_init(&attr);
	err = pthread_attr_setaffinity_np(&attr, size, set);
	if (!err)
		err = pthread_create(&t->thread, &attr, reader_thread, t);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return err;
}

/* Without permission for its CPUs the thread runs on any. */
static int start_thread(struct recording *r, size_t n)
{
	struct reader *t = &r->readers->items[n];
	int error = create_thread_on(t, &r->groups.items[n].run_on);

	if (error) {
		log_at(&r->log, LOG_DETAIL, "thread %zu runs on any CPU: %s", n, strerror(error));
		error = pthread_create(&t->thread, NULL, reader_thread, t);
	}
	if (error)
		return log_error(&r->log, CLI_INPUT, "no thread: %s", strerror(error));
	r->readers->running++;
	return 0;
}

int readers_start(struct recording *r)
{
	struct readers *readers = calloc(1, sizeof(*readers));
	int err = 0;

	if (readers)
		readers->items = calloc(r->groups.n, sizeof(*readers->items));
	if (!readers || !readers->items) {
		free(readers);
		return log_error(&r->log, CLI_OUTPUT, "out of memory");
	}
	r->readers = readers;
	readers->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	readers->failed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (readers->stop_fd < 0 || readers->failed_fd < 0)
		err = log_error(&r->log, CLI_INPUT, "no eventfd: %s", strerror(errno));
	for (size_t i = 0; i < r->groups.n && !err; i++)
		err = open_reader(r, i);
	for (size_t i = 0; i < r->groups.n && !err; i++)
		err = start_thread(r, i);
	if (!err)
		log_at(&r->log, LOG_DETAIL, "%zu threads read", readers->running);
	return err;
}

int readers_failed_fd(const struct readers *t)
{
	return t->failed_fd;
}

uint64_t readers_size(const struct readers *t)
{
	uint64_t size = 0;

	for (size_t i = 0; t && i < t->n; i++)
		size += __atomic_load_n(&t->items[i].size, __ATOMIC_RELAXED);
	return size;
}

static void collect_totals(struct recording *r, struct reader *t)
{
	if (t->failed)
		datafile_abort(&r->file, t->writer);
	else
		r->file.readable += t->size;
	r->file.totals.bytes += t->totals.bytes;
	r->file.totals.samples += t->totals.samples;
	r->file.totals.lost_records += t->totals.lost_records;
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
	struct readers *readers = r->readers;
	int err = 0;

	if (!readers)
		return 0;
	eventfd_write(readers->stop_fd, 1);
	for (size_t i = 0; i < readers->n; i++) {
		struct reader *t = &readers->items[i];
		int error;

		if (i < readers->running) {
			pthread_join(t->thread, NULL);
			collect_totals(r, t);
			err = t->failed ? -1 : err;
		}
		error = close_reader(t);
		if (error && !err) {
			r->file.error = (struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL,
							   .have = (uint64_t)error };
			err = -1;
		}
	}
	close(readers->stop_fd);
	close(readers->failed_fd);
	free(readers->items);
	free(readers);
	r->readers = NULL;
	return err;
}
