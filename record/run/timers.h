/* timers.h - what is to happen when: the delays of -D, --duration, --switch-output=TIME. */
#ifndef RECORD_TIMERS_H
#define RECORD_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/options.h"

enum timers_action { TIMER_ENABLE, TIMER_DISABLE, TIMER_ROTATE, TIMER_STOP };

struct timer {
	uint64_t at;			/* ns of CLOCK_MONOTONIC; from timers_start() before it */
	uint64_t every;			/* ns; 0: once */
	enum timers_action action;
};

struct timers {
	struct timer *items;
	size_t n;
	bool starts_off;		/* events are not enabled at the start */
	int fd;				/* a timerfd, readable when something is due; -1: nothing ever is */
};

#define TIMER_EMPTY { .fd = -1 }

/* 0; or an exit status after saying what is wrong. */
int timers_read(struct timers *a, const struct settings *o, const struct logger *s);
int timers_add(struct timers *a, uint64_t at, uint64_t every, enum timers_action action);
/* Time runs from now on. 0, or an errno. */
int timers_start(struct timers *a);
/* The next thing that is due; false: nothing is. Call until then whenever fd is readable. */
bool timers_due(struct timers *a, enum timers_action *action);
void timers_free(struct timers *a);

#endif
