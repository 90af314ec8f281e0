/* source.c - opens a recording as often as it is read. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void free_filter(struct pdpy_filter *f)
{
	for (size_t i = 0; i < f->nr_comms; i++)
		free(f->comms[i]);
	for (size_t i = 0; i < f->nr_events; i++)
		free(f->events[i]);
	free(f->comms);
	free(f->events);
	free(f->types);
	free(f->pids);
	free(f->tids);
	free(f->cpus);
}

void pdpy_source_release(struct pdpy_source *s)
{
	if (!s || atomic_fetch_sub(&s->users, 1) > 1)
		return;
	if (s->has_bytes && Py_IsInitialized()) {
		const PyGILState_STATE state = PyGILState_Ensure();

		PyBuffer_Release(&s->bytes);
		PyGILState_Release(state);
	}
	if (s->fd >= 0)
		close(s->fd);
	free_filter(&s->filter);
	pd_history_free(s->history);
	free(s->errors.items);
	free(s->payloads.items);
	pthread_mutex_destroy(&s->lock);
	free(s->path);
	free(s);
}

/* Opens the file again, with an offset of its own. */
static int open_again(const struct pdpy_source *s)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);
	if (fd >= 0 && lseek(fd, s->start, SEEK_SET) == s->start)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void close_reader(struct pdpy_reader *in)
{
	pd_reader_free(in->reader);
	if (in->fd >= 0)
		close(in->fd);
}

/* Opens a reader. Sets *e if there is none. */
static struct pdpy_reader open_reader(const struct pdpy_source *s, struct pd_reader_options o,
				      struct pd_error *e)
{
	struct pdpy_reader in = { NULL, -1 };

	o.size = sizeof(o);
	o.memory_limit = s->memory;
	if (s->is_strict)
		o.stop_at = PD_DAMAGED;
	if (s->path) {
		in.reader = pd_reader_open_path(s->path, &o, e);
		return in;
	}
	if (s->has_bytes) {
		in.reader = pd_reader_open_memory((struct pd_bytes){
			s->bytes.buf, (size_t)s->bytes.len }, &o, e);
		return in;
	}
	in.fd = open_again(s);
	*e = (struct pd_error){ .code = PD_E_IO, .severity = PD_FATAL, .have = (uint64_t)errno };
	if (in.fd >= 0)
		in.reader = pd_reader_open_fd(in.fd, &o, e);
	return in;
}

/* --- learning --- */

enum { CALLS_A_LOOK = 16, MS_A_LOOK = 10 };	/* at the clock; for signals */

static uint64_t now_in_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Another thread that computes in Python keeps the GIL for 5 ms. */
bool pdpy_is_interrupted(void)
{
	static _Thread_local unsigned int calls;
	static uint64_t next;		/* of the main thread */
	PyGILState_STATE state;
	bool is_interrupted;

	if (++calls % CALLS_A_LOOK || gettid() != getpid() || now_in_ms() < next)
		return false;
	state = PyGILState_Ensure();
	is_interrupted = PyErr_CheckSignals() != 0;
	PyGILState_Release(state);
	next = now_in_ms() + MS_A_LOOK;
	return is_interrupted;
}

int pdpy_look_for_signals(void *ctx, const struct pd_reader *r)
{
	(void)ctx;
	(void)r;
	return pdpy_is_interrupted() ? EINTR : 0;
}

void pdpy_defer_interrupt(void)
{
	const PyGILState_STATE state = PyGILState_Ensure();

	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
		PyErr_SetInterrupt();
	PyErr_Clear();
	PyGILState_Release(state);
}

static void add_reported(struct pdpy_errors *to, const struct pd_error *e)
{
	struct pdpy_reported *more;

	if (to->count == PDPY_MOST_ERRORS)
		return;
	if ((to->count & (to->count - 1)) == 0) {
		more = realloc(to->items, (to->count ? 2 * to->count : 1) * sizeof(*more));
		if (!more)
			return;
		to->items = more;
	}
	to->items[to->count].e = *e;
	pd_error_text(e, to->items[to->count].text, sizeof(to->items->text));
	to->count++;
}

static void keep_error(void *ctx, const struct pd_error *e)
{
	struct pdpy_source *s = ctx;

	add_reported(&s->errors, e);
}

/* Keeps an error of a payload. Each pass that reads payloads finds it again. */
static void keep_payload_error(struct pdpy_source *s, const struct pd_error *e)
{
	size_t i = 0;

	pthread_mutex_lock(&s->lock);
	while (i < s->payloads.count && s->payloads.items[i].e.offset != e->offset)
		i++;
	if (i == s->payloads.count)
		add_reported(&s->payloads, e);
	pthread_mutex_unlock(&s->lock);
}

struct pdpy_errors pdpy_source_payloads(struct pdpy_source *s)
{
	struct pdpy_errors copy = { NULL, 0 };

	pthread_mutex_lock(&s->lock);
	if (s->payloads.count)
		copy.items = malloc(s->payloads.count * sizeof(*copy.items));
	if (copy.items) {
		copy.count = s->payloads.count;
		memcpy(copy.items, s->payloads.items, copy.count * sizeof(*copy.items));
	}
	pthread_mutex_unlock(&s->lock);
	return copy;
}

/* Returns 0, or -1 and *e if a strict reader met damage. */
static int learn_records(struct pdpy_source *s, struct pd_reader *reader, struct pd_error *e)
{
	struct pd_error ignored;
	int n;

	while ((n = pd_history_learn_next(s->history, reader, NULL, e)) > 0)
		if (pdpy_is_interrupted())
			return -1;
	if (n < 0 && s->is_strict)
		return -1;
	if (n < 0)
		keep_error(s, e);
	pd_history_seal(s->history, reader, &ignored);
	if (pd_history_lacks_memory(s->history, &ignored))
		keep_error(s, &ignored);
	return 0;
}

int pdpy_source_learn(struct pdpy_source *s, struct pd_error *e)
{
	struct pdpy_reader in;
	int ret = -1;

	if (s->history)
		return 0;
	s->errors.count = 0;
	in = open_reader(s, (struct pd_reader_options){ .on_error = keep_error, .ctx = s }, e);
	if (in.reader)
		s->history = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = s->memory), e);
	if (s->history)
		ret = learn_records(s, in.reader, e);
	close_reader(&in);
	if (ret) {
		pd_history_free(s->history);
		s->history = NULL;
	}
	return ret;
}

/* --- a pass --- */

static void add_error(void *ctx, const struct pd_error *e)
{
	struct pdpy_pass *p = ctx;

	if (pc_error_is_of_payload(e))
		keep_payload_error(p->source, e);
	if (p->columns)
		pc_add_error(p->columns, e);
	if (p->sink)
		pd_sink_error(p->sink, e);
}

static int make_filter(struct pdpy_pass *p)
{
	const struct pdpy_filter *f = &p->source->filter;

	if (!f->is_given)
		return 0;
	p->filter = pd_filter_new(PD_FILTER_OPTIONS(
		.types = { f->types, f->nr_types }, .pids = { f->pids, f->nr_pids },
		.tids = { f->tids, f->nr_tids }, .cpus = { f->cpus, f->nr_cpus },
		.comms = { (const char *const *)f->comms, f->nr_comms },
		.events = { (const char *const *)f->events, f->nr_events },
		.time = f->has_time ? &f->time : NULL));
	if (p->filter && p->source->history)
		pd_filter_set_history(p->filter, p->source->history);
	return p->filter ? 0 : -1;
}

static int make_columns(struct pdpy_pass *p, const struct pc_options *o, struct pd_error *e)
{
	struct pc_options options = *o;

	p->file_id = o->file_id ? strdup(o->file_id) : NULL;
	p->path = o->path ? strdup(o->path) : NULL;
	options.file_id = p->file_id;
	options.path = p->path;
	options.history = p->source->history;
	options.filter = p->filter;
	options.memory_limit = p->source->memory;
	options.reading = PC_READ_NEEDED;	/* the first pass found the errors */
	p->columns = pc_new(&options, e);
	return p->columns ? 0 : -1;
}

/* Errors are reported when the reader is opened, too: what takes them is made before. */
static int open_pass(struct pdpy_pass *p, struct pdpy_use use, struct pd_error *e)
{
	if (make_filter(p) || (use.columns && make_columns(p, use.columns, e)))
		return -1;
	if (use.make_sink) {
		p->sink = use.make_sink(p, use.ctx);
		if (!p->sink)
			return -1;
	}
	p->in = open_reader(p->source, (struct pd_reader_options){
		.on_error = add_error, .ctx = p }, e);
	return p->in.reader ? 0 : -1;
}

struct pdpy_pass *pdpy_pass_new(struct pdpy_source *s, struct pdpy_use use, struct pd_error *e)
{
	struct pdpy_pass *p = calloc(1, sizeof(*p));

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	if (!p)
		return NULL;
	p->source = s;
	p->in.fd = -1;
	atomic_fetch_add(&s->users, 1);
	if (open_pass(p, use, e) == 0)
		return p;
	pdpy_pass_free(p);
	return NULL;
}

void pdpy_pass_free(void *pass)
{
	struct pdpy_pass *p = pass;

	if (!p)
		return;
	pd_sink_free(p->sink);
	pc_free(p->columns);
	close_reader(&p->in);
	pd_filter_free(p->filter);
	free(p->file_id);
	free(p->path);
	pdpy_source_release(p->source);
	free(p);
}
