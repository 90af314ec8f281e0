/* rotate_trigger.c - events whose occurrence begins a new file. Their records go to separate
 * buffers and are discarded. */
#include "run/rotate_trigger.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "event/attr.h"

/* Returns whether each occurrence may begin a file. Cycles and clocks never stop: they need a
 * period. */
static bool occurs_singly(const struct event *e)
{
	return e->attr.type == PERF_TYPE_TRACEPOINT || e->attr.type == PERF_TYPE_BREAKPOINT ||
	       e->probe ||
	       (e->attr.type == PERF_TYPE_SOFTWARE && e->attr.config > PERF_COUNT_SW_TASK_CLOCK);
}

static int check_periods(const struct event_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct event *e = &l->items[i];

		if (!occurs_singly(e) && !e->terms.has_period && !e->terms.has_freq)
			return log_error(l->log, CLI_USAGE,
					 "'--switch-output-event %s' needs a period, such as "
					 "cpu-clock/period=1000000000/, a second",
					 e->name);
	}
	return 0;
}

int rotate_trigger_read(struct rotate_trigger *s, const struct settings *o, const struct target *t,
			const struct logger *log)
{
	int status;

	s->events.log = log;
	s->events.inherited = attrs_are_inherited(o, t);
	for (size_t i = 0; i < o->rotate_triggers.count; i++)
		if (events_parse(&s->events, o->rotate_triggers.items[i], 0))
			return CLI_USAGE;
	/* ring_peek() reads forward rings only */
	for (size_t i = 0; i < s->events.n; i++)
		s->events.items[i].terms.overwrite = CHOICE_NO;
	status = check_periods(&s->events);
	return status ? status : attrs_configure_triggers(&s->events, o, t);
}

/* All counters are watched, not one for each buffer: a counter hangs up when its thread ends, while
 * the counters of other threads still write to the same buffer. */
static int watch_counters(struct rotate_trigger *s)
{
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return -1;
	for (size_t i = 0; i < s->counters.n; i++)
		if (counter_watch(s->epoll, s->counters.items[i].fd))
			return -1;
	return 0;
}

int rotate_trigger_open(struct rotate_trigger *s, const struct settings *o, const struct target *t)
{
	int status;

	if (!s->events.n)
		return 0;
	s->rings.bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->rings.bytes_given = true;
	status = counters_open(&s->counters, &s->events, t);
	if (!status)
		status = rings_map(&s->rings, &s->counters, &s->events, o);
	if (!status && watch_counters(s))
		status = log_error(s->events.log, CLI_INPUT,
				   "can't wait for '--switch-output-event': %s", strerror(errno));
	return status;
}

void rotate_trigger_start(const struct rotate_trigger *s)
{
	counters_start(&s->counters, &s->events, COUNTERS_ALL);
}

/* Checks the buffers rather than the descriptors: those are readable only once for each wakeup,
 * which the caller's wait for this epoll has consumed. */
bool rotate_trigger_occurred(struct rotate_trigger *s)
{
	bool any = false;

	counters_unwatch_ended(s->epoll);
	for (size_t i = 0; i < s->rings.n; i++) {
		struct pd_bytes spans[2];

		any = ring_peek(&s->rings.items[i], spans) || any;
		ring_release(&s->rings.items[i]);
	}
	return any;
}

void rotate_trigger_close(struct rotate_trigger *s)
{
	rings_unmap(&s->rings);
	counters_close(&s->counters);
	events_free(&s->events);
	if (s->epoll >= 0)
		close(s->epoll);
	*s = (struct rotate_trigger)ROTATE_TRIGGER_NONE;
}
