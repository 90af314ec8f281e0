/* timers.c - timed actions, on one timerfd. */
#include "run/timers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/parse.h"
#include "process/clock.h"

#define MS 1000000ull
#define SECOND 1000000000ull

int timers_add(struct timers *a, uint64_t at, uint64_t every, enum timers_action action)
{
	struct timer *items = realloc(a->items, (a->n + 1) * sizeof(*items));

	if (!items)
		return -1;
	a->items = items;
	items[a->n++] = (struct timer){ at, every, action };
	return 0;
}

/* "10-20,30-40": ms, ascending. */
static bool read_ranges(struct timers *a, const char *text)
{
	uint64_t last = 0;

	while (*text) {
		char *end;
		uint64_t from = strtoull(text, &end, 10), to;

		if (end == text || *end != '-')
			return false;
		text = end + 1;
		to = strtoull(text, &end, 10);
		if (end == text || (*end && *end != ',') || from < last || to <= from ||
		    timers_add(a, from * MS, 0, TIMER_ENABLE) ||
		    timers_add(a, to * MS, 0, TIMER_DISABLE))
			return false;
		last = to;
		text = *end ? end + 1 : end;
	}
	return true;
}

static bool read_delay(struct timers *a, const char *text)
{
	uint64_t ms;

	a->starts_off = true;
	if (strcmp(text, "-1") == 0)
		return true;
	if (!parse_number(text, &ms))
		return read_ranges(a, text);
	a->starts_off = ms > 0;
	return ms == 0 || timers_add(a, ms * MS, 0, TIMER_ENABLE) == 0;
}

int timers_read(struct timers *a, const struct settings *o, const struct logger *s)
{
	uint64_t ns;

	if (o->delay && !read_delay(a, o->delay))
		return log_error(s, CLI_USAGE, "'-D' must be a number of ms, -1 or ranges such as "
				 "10-20,30-40, not '%s'", o->delay);
	if (!o->duration)
		return 0;
	if (!parse_time(o->duration, &ns) && !parse_fraction(o->duration, SECOND, &ns))
		return log_error(s, CLI_USAGE,
				 "'--duration' must be a number of seconds, not '%s'",
				 o->duration);
	if (timers_add(a, ns, 0, TIMER_STOP))
		return log_error(s, CLI_OUTPUT, "out of memory");
	return 0;
}

static struct timer *earliest(struct timers *a)
{
	struct timer *first = NULL;

	for (size_t i = 0; i < a->n; i++)
		if (!first || a->items[i].at < first->at)
			first = &a->items[i];
	return first;
}

static void set_timer(struct timers *a)
{
	const struct timer *first = earliest(a);
	struct itimerspec timer = { 0 };

	if (first) {
		timer.it_value.tv_sec = (time_t)(first->at / SECOND);
		timer.it_value.tv_nsec = (long)(first->at % SECOND);
	}
	timerfd_settime(a->fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

int timers_start(struct timers *a)
{
	uint64_t start = clock_ns();

	if (!a->n)
		return 0;
	a->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (a->fd < 0)
		return errno;
	for (size_t i = 0; i < a->n; i++)
		a->items[i].at += start;
	set_timer(a);
	return 0;
}

bool timers_due(struct timers *a, enum timers_action *action)
{
	struct timer *first = earliest(a);

	if (!first || first->at > clock_ns()) {
		set_timer(a);
		return false;
	}
	*action = first->action;
	if (first->every)
		first->at += first->every;
	else
		*first = a->items[--a->n];
	return true;
}

void timers_free(struct timers *a)
{
	if (a->fd >= 0)
		close(a->fd);
	free(a->items);
	*a = (struct timers)TIMER_EMPTY;
}
