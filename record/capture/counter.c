/* counter.c - open, enable and read counters. */
#include "capture/counter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "capture/spare_files.h"
#include "event/event_kinds.h"
#include "event/explain.h"
#include "event/fallback.h"

/* State of opening a counter for each event, CPU and thread. */
struct opening {
	struct counters *c;
	struct event_list *l;
	const struct target *t;
	size_t room;
	size_t gone;			/* threads that ended meanwhile */
	size_t event;			/* index of the last one tried */
};

enum opened { OPENED, OPEN_FAILED, THREAD_GONE };

static int leader_fd(const struct counters *c, size_t from, size_t leader)
{
	for (size_t i = c->n; i-- > from;)
		if (c->items[i].event == leader)
			return c->items[i].fd;
	return -1;
}

static struct counter *next_counter(struct opening *o)
{
	struct counters *c = o->c;

	if (c->n == o->room) {
		size_t room = o->room ? 2 * o->room : 16;
		struct counter *items = realloc(c->items, room * sizeof(*items));

		if (!items)
			return NULL;
		c->items = items;
		o->room = room;
	}
	return &c->items[c->n];
}

/* from: index of the first counter of this CPU and thread. */
static enum opened open_one(struct opening *o, size_t event, int cpu, pid_t tid, size_t from)
{
	const struct event *e = &o->l->items[event];
	bool member = e->leader != event;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	struct counter *c = next_counter(o);
	int fd;

	o->event = event;
	if (!c) {
		errno = ENOMEM;
		return OPEN_FAILED;
	}
	if (e->cgroup_fd >= 0) {
		flags |= PERF_FLAG_PID_CGROUP;
		tid = e->cgroup_fd;
	}
	fd = abi_event_open(&e->attr, tid, cpu, member ? leader_fd(o->c, from, e->leader) : -1,
			    flags);
	if (fd < 0)
		return errno == ESRCH && o->t->kind == TARGET_THREADS ? THREAD_GONE : OPEN_FAILED;
	*c = (struct counter){ .fd = fd, .event = event, .cpu = cpu,
			       .tid = e->cgroup_fd >= 0 ? -1 : tid };
	o->c->n++;
	return ioctl(fd, PERF_EVENT_IOC_ID, &c->id) ? OPEN_FAILED : OPENED;
}

static bool has_cpu(const struct int_list *cpus, int cpu)
{
	return !cpus->n || int_list_has(cpus, cpu);
}

/* An uncore PMU with a target without CPUs: its counters are opened once, on the CPUs that the PMU
 * names. */
static enum opened open_on_own_cpus(struct opening *o, size_t event, size_t from)
{
	const struct int_list *cpus = &o->l->items[event].cpus;
	enum opened result = OPENED;

	for (size_t i = 0; i < cpus->n && result == OPENED; i++)
		result = open_one(o, event, cpus->items[i], -1, from);
	return result;
}

static enum opened open_on_thread(struct opening *o, int cpu, pid_t tid, bool first_thread)
{
	size_t from = o->c->n;

	for (size_t i = 0; i < o->l->n; i++) {
		const struct event *e = &o->l->items[i];
		enum opened result = OPENED;

		if ((e->system_wide && !first_thread) ||
		    (!e->helper && cpu >= 0 && !has_cpu(&o->t->cpus, cpu)))
			continue;
		if (e->system_wide && cpu < 0)
			result = open_on_own_cpus(o, i, from);
		else if (cpu < 0 || has_cpu(&e->cpus, cpu))
			result = open_one(o, i, cpu, e->system_wide ? -1 : tid, from);
		if (result != OPENED)
			return result;
	}
	return OPENED;
}

static void close_from(struct counters *c, size_t from)
{
	while (c->n > from)
		close(c->items[--c->n].fd);
}

static enum opened open_all(struct opening *o)
{
	const struct int_list *threads = &o->t->threads;
	static const int any = -1;
	size_t n = o->t->kind == TARGET_SYSTEM ? 1 : threads->n;
	const int *tids = o->t->kind == TARGET_SYSTEM ? &any : threads->items;
	const struct int_list *cpus = target_all_cpus(o->t);

	o->gone = 0;
	for (size_t c = 0; c < cpus->n; c++) {
		for (size_t i = 0; i < n; i++) {
			size_t from = o->c->n;
			enum opened result = open_on_thread(o, cpus->items[c], tids[i], i == 0);

			if (result == OPEN_FAILED)
				return result;
			if (result == THREAD_GONE) {
				close_from(o->c, from);
				o->gone++;
			}
		}
	}
	if (o->c->n)
		return OPENED;
	errno = ESRCH;
	return OPEN_FAILED;
}

/* Without files for the rest of the recording, tasks and names would be missing in it. */
static enum opened open_with_room(struct opening *o)
{
	struct rlimit stored;
	enum opened result;

	if (spare_files_hold(&stored))
		return OPEN_FAILED;
	result = open_all(o);
	spare_files_give_back(&stored);
	return result;
}

/* Fails for a system-wide event that no CPU of the target can count. */
static int check_all_open(const struct counters *c, const struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		bool found = false;

		for (size_t j = 0; j < c->n && !found; j++)
			found = c->items[j].event == i;
		if (!found)
			return log_error(l->log, CLI_INPUT,
					 "%s can't be counted on any of these CPUs",
					 l->items[i].name);
	}
	return 0;
}

static int refuse_filter(const struct event *e, int error, const struct logger *s)
{
	char fields[1024];

	if (e->attr.type == PERF_TYPE_TRACEPOINT &&
	    tracepoint_fields(e->name, fields, sizeof(fields)))
		return log_error(s, CLI_USAGE, "%s: the kernel does not take the filter '%s': %s; "
				 "the event's fields are%s", e->name, e->filter, strerror(error),
				 fields);
	return log_error(s, CLI_USAGE, "%s: the kernel does not take the filter '%s': %s", e->name,
			 e->filter, strerror(error));
}

static int set_filters(const struct counters *c, const struct event_list *l)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct event *e = &l->items[c->items[i].event];

		if (e->filter && ioctl(c->items[i].fd, PERF_EVENT_IOC_SET_FILTER, e->filter))
			return refuse_filter(e, errno, l->log);
	}
	return 0;
}

int counters_open(struct counters *c, struct event_list *l, const struct target *t)
{
	struct opening o = { .c = c, .l = l, .t = t };
	struct fallback f = { .target = t };
	enum opened result;
	int error;

	while ((result = open_with_room(&o)) != OPENED) {
		error = errno;
		close_from(c, 0);
		if (!fallback_next(&f, l, o.event, error))
			break;
	}
	if (result != OPENED)
		explain_open(&l->items[o.event], t, error, l->log);
	else if (o.gone)
		log_at(l->log, LOG_DETAIL, "%zu counters left out: their threads ended meanwhile",
		       o.gone);
	fallback_done(&f, l);
	if (result != OPENED)
		return CLI_INPUT;
	error = check_all_open(c, l);
	return error ? error : set_filters(c, l);
}

void counters_close(struct counters *c)
{
	close_from(c, 0);
	free(c->items);
	c->items = NULL;
}

static bool in_set(const struct event *e, enum counter_set set)
{
	return set == COUNTERS_ALL || e->helper == (set == COUNTERS_HELPERS);
}

static void ioctl_each(const struct counters *c, const struct event_list *l, enum counter_set set,
		       unsigned long request)
{
	for (size_t i = 0; i < c->n; i++)
		if (in_set(&l->items[c->items[i].event], set))
			ioctl(c->items[i].fd, request, 0);
}

void counters_start(const struct counters *c, const struct event_list *l, enum counter_set set)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct event *e = &l->items[c->items[i].event];

		if (in_set(e, set) && !(e->attr.flags & ATTR_ENABLE_ON_EXEC))
			ioctl(c->items[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	}
}

void counters_enable(const struct counters *c, const struct event_list *l, enum counter_set set)
{
	ioctl_each(c, l, set, PERF_EVENT_IOC_ENABLE);
}

void counters_disable(const struct counters *c, const struct event_list *l, enum counter_set set)
{
	ioctl_each(c, l, set, PERF_EVENT_IOC_DISABLE);
}

bool counters_set_named(const struct counters *c, const struct event_list *l, const char *name,
			bool on)
{
	bool found = false;

	for (size_t i = 0; i < c->n; i++) {
		const struct event *e = &l->items[c->items[i].event];

		if (e->helper || strcmp(e->name, name) != 0)
			continue;
		found = true;
		ioctl(c->items[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	}
	return found;
}

/* read(2) returns one counter, or all of a group, as read_format selects. */
bool counter_lost(const struct counter *c, const struct event_attr *attr, uint64_t *lost)
{
	const uint64_t times[] = { PERF_FORMAT_TOTAL_TIME_ENABLED, PERF_FORMAT_TOTAL_TIME_RUNNING };
	bool group = attr->read_format & PERF_FORMAT_GROUP;
	uint64_t words[512];
	ssize_t size;
	size_t at = 1;

	if (!(attr->read_format & ABI_FORMAT_LOST) || !(attr->read_format & PERF_FORMAT_ID))
		return false;
	size = read(c->fd, words, sizeof(words));
	if (size < 24)
		return false;
	for (size_t i = 0; i < 2; i++)
		at += (attr->read_format & times[i]) != 0;
	if (!group) {
		*lost = words[at + 1];
		return true;
	}
	for (; (at + 3) * sizeof(*words) <= (size_t)size; at += 3) {
		if (words[at + 1] != c->id)
			continue;
		*lost = words[at + 2];
		return true;
	}
	return false;
}

int counter_watch(int epoll, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

void counters_unwatch_ended(int epoll)
{
	struct epoll_event events[64];
	const int n = epoll_wait(epoll, events, sizeof(events) / sizeof(*events), 0);

	for (int i = 0; i < n; i++)
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(epoll, EPOLL_CTL_DEL, events[i].data.fd, NULL);
}
