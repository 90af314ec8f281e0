/* loop.c - the event loop: buffers, signals, control commands and timers. */
#include "run/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "process/clock.h"
#include "event/evlist.h"
#include "run/drain.h"
#include "run/prologue.h"
#include "run/readers.h"
#include "run/rotate.h"

enum {
	WAIT_MS = 500,		/* between flushes: the most that a killed recorder loses */
	MOUNTS_MS = 2,		/* between two looks: programs may start programs all the time */
	ROTATE_MS = 10,		/* between two files: their names have hundredths of a second */
	EVENTS_AT_ONCE = 64,
	SIGNALS = 6,		/* in the set of the signalfd and of interrupt.c */
};

/* The data of an epoll event: one of these, or the index of a counter. */
enum source {
	FROM_SIGNAL = -1, FROM_CONTROL = -2, FROM_TIMERS = -3, FROM_READERS = -4,
	FROM_BACKGROUND = -5,	/* synthesis ended; process_pending() checks for it */
	FROM_INTERRUPT = -6,
	FROM_TRIGGER = -7,
	FROM_MOUNTS = -8,
};

struct loop {
	struct recording *r;
	int epoll, signals;
	size_t watched;		/* counters without a hang-up so far */
	bool snapshot, rotate, done;
	bool readers_failed;	/* readers_stop() gives the reason */
	bool busy;		/* the last pass found so much that more is likely to come */
	uint64_t flushed;	/* ms, time of the last flush */
	int wait;		/* ms, timeout of the next wait */
	uint64_t rotated;	/* ms, time of the last rotation */
	uint64_t mounts_looked;	/* ms; 0: epoll watches for what is to be looked at */
};

static int watch_fd(const struct loop *l, int fd, int64_t source)
{
	/* For counters that threads read only hang-ups matter; epoll always reports those. */
	bool read_by_thread = source >= 0 && l->r->groups.n;
	struct epoll_event e = { .events = read_by_thread ? 0 : EPOLLIN,
				 .data.u64 = (uint64_t)source };

	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e);
}

static bool overwrites(const struct recording *r, const struct counter *c)
{
	return r->events.items[c->event].attr.flags & ATTR_WRITE_BACKWARD;
}

/* Overwriting buffers are read on request only, so they are not watched. A counter that shares a
 * buffer wakes with the buffer's owner; for threads every counter is watched, as the recording ends
 * when the last thread does. Relies on rings being in the order of their counters. */
static int watch_counters(struct loop *l)
{
	const struct recording *r = l->r;
	size_t ring = 0;

	if (r->groups.n && r->target.kind != TARGET_THREADS)
		return 0;
	for (size_t i = 0; i < r->counters.n; i++) {
		const struct counter *c = &r->counters.items[i];
		bool owner = ring < r->rings.n && r->rings.items[ring].fd == c->fd;

		ring += owner;
		if (overwrites(r, c) || (!owner && r->target.kind != TARGET_THREADS))
			continue;
		if (watch_fd(l, c->fd, (int64_t)i))
			return -1;
		l->watched++;
	}
	return 0;
}

static int set_up_epoll(struct loop *l)
{
	struct recording *r = l->r;
	sigset_t set;

	sigemptyset(&set);
	if (!r->interrupt.threaded)
		set = r->interrupt.set;
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR2);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->epoll < 0 || l->signals < 0 || watch_fd(l, l->signals, FROM_SIGNAL))
		return -1;
	if (r->interrupt.threaded && watch_fd(l, r->interrupt.first_fd, FROM_INTERRUPT))
		return -1;
	if (r->control.in >= 0 && watch_fd(l, r->control.in, FROM_CONTROL))
		return -1;
	if (r->trigger.epoll >= 0 && watch_fd(l, r->trigger.epoll, FROM_TRIGGER))
		return -1;
	return watch_counters(l);
}

/* SIGTERM is passed on at once. The others usually go to the whole process group, from a terminal
 * or timeout(1): a command that cleans up at the first one may give up at a second. It gets SIGTERM
 * if it is still there when the file is finished, as from perf. */
static void on_end_signal(struct loop *l, int signo)
{
	struct recording *r = l->r;

	r->interrupted = true;
	l->done = true;
	if (signo == SIGTERM)
		child_terminate(&r->child);
}

/* Requests a snapshot, and the next file if the output rotates. */
static void request_snapshot(struct loop *l)
{
	l->snapshot = true;
	l->rotate = l->rotate || l->r->rotates;
}

static void on_signal(struct loop *l)
{
	struct signalfd_siginfo infos[SIGNALS];		/* a pending signal is not queued again */
	ssize_t n = read(l->signals, infos, sizeof(infos)) / (ssize_t)sizeof(infos[0]);

	for (ssize_t i = 0; i < n; i++) {
		switch (infos[i].ssi_signo) {
		case SIGCHLD:
			l->done = l->done || child_poll(&l->r->child);
			break;
		case SIGUSR2:
			request_snapshot(l);
			break;
		default:
			on_end_signal(l, (int)infos[i].ssi_signo);
		}
	}
}

static void on_interrupt(struct loop *l)
{
	const struct interrupt *in = &l->r->interrupt;
	eventfd_t n;

	if (eventfd_read(in->first_fd, &n) == 0)
		on_end_signal(l, in->first.si_signo);
}

static void set_all_events(struct loop *l, bool on)
{
	struct recording *r = l->r;

	if (on)
		counters_enable(&r->counters, &r->events, COUNTERS_EVENTS);
	else
		counters_disable(&r->counters, &r->events, COUNTERS_EVENTS);
	log_at(&r->log, LOG_DETAIL, "events are %s", on ? "enabled" : "disabled");
}

/* An empty name means all events. */
static bool set_events(struct loop *l, const char *name, bool on)
{
	struct recording *r = l->r;

	if (r->file.failed)
		return false;
	if (!*name)
		set_all_events(l, on);
	return !*name || counters_set_named(&r->counters, &r->events, name, on);
}

/* Returns NULL, or why the command was refused. */
static const char *execute_command(struct loop *l, enum control_command command,
				   const char *argument)
{
	switch (command) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		if (!set_events(l, argument, command == CONTROL_ENABLE))
			return "no event has this name";
		return NULL;
	case CONTROL_SNAPSHOT:
		request_snapshot(l);
		return NULL;
	case CONTROL_STOP:
		l->done = true;
		return NULL;
	case CONTROL_EVLIST:
		return evlist_print(&l->r->events, argument) ? NULL : "evlist takes -F, -g or -v";
	case CONTROL_UNKNOWN:
		return "not a command: enable, disable, evlist, snapshot, stop, ping";
	default:
		return NULL;
	}
}

static void on_trigger(struct loop *l)
{
	if (rotate_trigger_occurred(&l->r->trigger))
		request_snapshot(l);
}

static void on_control(struct loop *l)
{
	struct control *c = &l->r->control;
	enum control_command command;
	const char *argument, *refused;

	while ((command = control_next(c, &argument)) != CONTROL_NONE) {
		if (command == CONTROL_CLOSED) {
			epoll_ctl(l->epoll, EPOLL_CTL_DEL, c->in, NULL);
			return;
		}
		refused = execute_command(l, command, argument);
		if (!refused) {
			control_acknowledge(c);
			continue;
		}
		log_at(&l->r->log, LOG_WARNING, "control: '%s%s%s': %s", c->line,
		       *argument ? " " : "", argument, refused);
		control_refuse(c, refused);
	}
}

static void on_timer(struct loop *l)
{
	enum timers_action action;

	while (timers_due(&l->r->timers, &action)) {
		if (action == TIMER_STOP)
			l->done = true;
		else if (action == TIMER_ROTATE)
			l->rotate = true;
		else
			set_events(l, "", action == TIMER_ENABLE);
	}
}

/* A counter hangs up when its thread ends; the recording ends with the last thread. */
static void on_counter(struct loop *l, size_t i, uint32_t events)
{
	if (!(events & (EPOLLHUP | EPOLLERR)))
		return;
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->r->counters.items[i].fd, NULL);
	if (--l->watched == 0 && l->r->target.kind == TARGET_THREADS)
		l->done = true;
}

/* Watches the mounts until there is something, then not before MOUNTS_MS. */
static int watch_mounts(const struct loop *l, int operation)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT,
				 .data.u64 = (uint64_t)FROM_MOUNTS };

	return epoll_ctl(l->epoll, operation, l->r->mounts.epoll, &e);
}

static void on_mounts(struct loop *l)
{
	mounts_look(&l->r->mounts);
	l->mounts_looked = clock_ms();
}

static void look_at_mounts(struct loop *l)
{
	const uint64_t waited = l->mounts_looked ? clock_ms() - l->mounts_looked : 0;

	mounts_age(&l->r->mounts);
	if (!l->mounts_looked)
		return;
	if (waited < MOUNTS_MS) {
		l->wait = MOUNTS_MS;
		return;
	}
	mounts_look(&l->r->mounts);
	watch_mounts(l, EPOLL_CTL_MOD);
	l->mounts_looked = 0;
}

static void wait_for_events(struct loop *l)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(l->epoll, events, EVENTS_AT_ONCE, l->wait);
	bool woken = false;

	for (int i = 0; i < n; i++) {
		int64_t source = (int64_t)events[i].data.u64;

		if (source == FROM_SIGNAL)
			on_signal(l);
		else if (source == FROM_INTERRUPT)
			on_interrupt(l);
		else if (source == FROM_CONTROL)
			on_control(l);
		else if (source == FROM_TIMERS)
			on_timer(l);
		else if (source == FROM_READERS)
			l->readers_failed = true;
		else if (source == FROM_TRIGGER)
			on_trigger(l);
		else if (source == FROM_MOUNTS)
			on_mounts(l);
		else if (source != FROM_BACKGROUND)
			on_counter(l, (size_t)source, events[i].events);
		woken = woken || source >= 0;
	}
	l->r->woken += woken;
}

static void check_sizes(struct loop *l)
{
	struct recording *r = l->r;
	uint64_t size = pd_writer_size(r->file.writer) + readers_size(r->readers);

	if (r->max_size && size >= r->max_size) {
		log_footer(&r->log, "size limit reached (%llu KB), stopping the recording",
			   (unsigned long long)size / 1024);
		l->done = true;
	}
	if (r->rotate_size && size >= r->rotate_size)
		l->rotate = true;
}

/* Few large writes are cheaper than many, but the recorder may be killed: data waits for WAIT_MS at
 * most. A pipe is flushed as soon as the buffers are empty. */
static int flush_if_due(struct loop *l)
{
	struct recording *r = l->r;
	uint64_t now = clock_ms(), waited = now - l->flushed;

	if (background_runs(&r->background)) {
		l->wait = WAIT_MS;
		return 0;
	}
	if (waited < WAIT_MS && (l->busy || r->file.mode == PD_MODE_FILE)) {
		l->wait = r->file.mode == PD_MODE_FILE ? (int)(WAIT_MS - waited) : 0;
		return 0;
	}
	l->flushed = now;
	l->wait = WAIT_MS;
	return drain_round(r) ? -1 : pd_writer_flush_soon(r->file.writer, &r->file.error);
}

static void start_background_synth(struct loop *l)
{
	int done_fd = background_start(l->r);

	if (done_fd >= 0)
		watch_fd(l, done_fd, FROM_BACKGROUND);
}

/* Requests that come within ROTATE_MS of a new file wait, and share the next one. */
static int carry_out_requests(struct loop *l)
{
	struct recording *r = l->r;

	if (l->rotate && clock_ms() - l->rotated < ROTATE_MS)
		return 0;
	if (l->snapshot && drain_snapshot(r))
		return -1;
	check_sizes(l);
	if (l->rotate && !l->done) {
		if (rotate_file(r))
			return -1;
		l->rotated = clock_ms();
		start_background_synth(l);
	}
	l->snapshot = l->rotate = false;
	return 0;
}

static int process_pending(struct loop *l)
{
	struct recording *r = l->r;
	uint64_t before = r->file.totals.bytes;

	if (background_is_done(r) && background_finish(r))
		return -1;
	if (!r->readers && drain_buffers(r, DRAIN_WORTHWHILE))
		return -1;
	l->busy = r->file.totals.bytes - before > r->rings.bytes / 8;
	if (!background_runs(&r->background) && carry_out_requests(l))
		return -1;
	if (flush_if_due(l))
		return -1;
	if (l->rotate && !background_runs(&r->background) && l->wait > ROTATE_MS)
		l->wait = ROTATE_MS;
	look_at_mounts(l);
	return 0;
}

/* Whether files are read at the end, for build ids or names. */
static bool reads_files(const struct recording *r)
{
	const unsigned int symbols = r->options->symbols;

	return symbols != SYMBOLS_OFF &&
	       (symbols != SYMBOLS_AUTO || r->file.read_back || r->file.symbols.path);
}

static void start_mounts(struct loop *l)
{
	struct recording *r = l->r;

	if (!reads_files(r))
		return;
	mounts_start(&r->mounts, &r->target);
	if (r->mounts.epoll >= 0)
		watch_mounts(l, EPOLL_CTL_ADD);
}

static int start_recording(struct loop *l)
{
	struct recording *r = l->r;
	int error = timers_start(&r->timers);

	if (error || (r->timers.fd >= 0 && watch_fd(l, r->timers.fd, FROM_TIMERS)))
		return log_error(&r->log, CLI_INPUT, "no timer: %s",
				 strerror(error ? error : errno));
	error = r->groups.n ? readers_start(r) : 0;
	if (error)
		return error;
	if (r->readers && watch_fd(l, readers_failed_fd(r->readers), FROM_READERS))
		return log_error(&r->log, CLI_INPUT, "can't wait for threads: %s",
				 strerror(errno));
	r->runs = true;
	counters_start(&r->counters, &r->events,
		       r->timers.starts_off ? COUNTERS_HELPERS : COUNTERS_ALL);
	rotate_trigger_start(&r->trigger);
	start_background_synth(l);
	start_mounts(l);
	return r->child.pid ? child_start(&r->child, r->target.command[0], &r->log) : 0;
}

static int finish_recording(struct loop *l)
{
	struct recording *r = l->r;

	counters_disable(&r->counters, &r->events, COUNTERS_ALL);
	if (background_finish(r) || readers_stop(r))
		return -1;
	if (drain_buffers(r, DRAIN_ALL) || drain_snapshot(r))
		return -1;
	mounts_look(&r->mounts);
	refusals_log(&r->mounts.refusals, &r->log);
	return epilogue_write(r, &r->lost);
}

static uint64_t bytes_in_rings(const struct recording *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->rings.n; i++) {
		struct ring *ring = &r->rings.items[i];
		struct pd_bytes spans[2];

		if (ring->kind == RING_FORWARD)
			sum += spans_size(spans, ring_peek(ring, spans));
	}
	return sum;
}

/* Ends each file with its last whole record. If a thread's file failed, the one with the header may
 * still be finished. */
static void save_written_parts(struct loop *l)
{
	struct recording *r = l->r;
	struct datafile *f = &r->file;
	struct pd_error first = f->error;

	if (readers_stop(r) && l->readers_failed) {
		first = f->error;
		if (epilogue_write(r, &r->lost))
			datafile_abort(f, f->writer);
		else
			f->readable += pd_writer_size(f->writer);
	} else {
		datafile_abort(f, f->writer);
	}
	f->error = first;
}

/* Ends the output after an error. The command is not to blame: it runs to its end, unrecorded. */
static int abandon_output(struct loop *l)
{
	struct recording *r = l->r;
	struct datafile *f = &r->file;
	struct pd_error first;
	int status;

	counters_disable(&r->counters, &r->events, COUNTERS_ALL);
	rotate_trigger_close(&r->trigger);
	mounts_close(&r->mounts);
	for (size_t i = 0; i < r->counters.n; i++)
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, r->counters.items[i].fd, NULL);
	first = f->error;
	if (background_finish(r))
		f->error = first;
	save_written_parts(l);
	status = datafile_failed(f, &r->log);
	f->not_written += bytes_in_rings(r);
	datafile_report_loss(f, &r->interrupt.hurry, &r->log);
	l->wait = -1;
	l->done = l->done || !r->child.started || r->child.ended;
	return status;
}

int loop_run(struct recording *r)
{
	struct loop l = {
		.r = r, .epoll = -1, .signals = -1, .flushed = clock_ms(), .wait = WAIT_MS,
	};
	int status = 0;

	if (set_up_epoll(&l))
		status = log_error(&r->log, CLI_INPUT, "can't wait for events: %s",
				   strerror(errno));
	else
		status = start_recording(&l);
	l.done = l.done || status;
	while (!l.done) {
		wait_for_events(&l);
		if (!r->file.failed && (l.readers_failed || process_pending(&l)))
			status = abandon_output(&l);
	}
	if (!r->file.failed && finish_recording(&l))
		status = abandon_output(&l);
	readers_stop(r);
	close(l.epoll);
	close(l.signals);
	return status;
}
