/* timers.h - timed actions: -D, --duration, --switch-output=TIME. */
#ifndef RECORD_TIMERS_H
#define RECORD_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/options.h"

enum timers_action { TIMER_ENABLE, TIMER_DISABLE, TIMER_ROTATE, TIMER_STOP };

struct timer {
	uint64_t at;			/* ns of CLOCK_MONOTONIC; relative before timers_start() */
	uint64_t every;			/* ns; 0: once */
	enum timers_action action;
};

struct timers {
	struct timer *items;
	size_t n;
	bool starts_off;		/* the recording starts with events disabled */
	int fd;				/* a timerfd, readable when an action is due; -1: none */
};

#define TIMER_EMPTY { .fd = -1 }

/* Reads -D and --duration. Returns 0, or an exit status after logging the error. */
int timers_read(struct timers *a, const struct settings *o, const struct logger *s);
/* Returns 0, or -1 without memory. */
int timers_add(struct timers *a, uint64_t at, uint64_t every, enum timers_action action);
/* Times count from this call. Returns 0, or an errno. */
int timers_start(struct timers *a);
/* Stores the next action that is due; returns false if none is. When fd is readable, call it until
 * it returns false. */
bool timers_due(struct timers *a, enum timers_action *action);
void timers_free(struct timers *a);

#endif
