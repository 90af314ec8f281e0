/* timers.h - what is to happen when: the delays of -D, --duration, --switch-output=TIME. */
#ifndef RECORD_TIMERS_H
#define RECORD_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/options.h"

enum agenda_action { AGENDA_ENABLE, AGENDA_DISABLE, AGENDA_SWITCH, AGENDA_STOP };

struct agenda_item {
	uint64_t at;			/* ns of CLOCK_MONOTONIC; from agenda_start() before it */
	uint64_t every;			/* ns; 0: once */
	enum agenda_action action;
};

struct agenda {
	struct agenda_item *items;
	size_t n;
	bool starts_off;		/* events are not enabled at the start */
	int fd;				/* a timerfd, readable when something is due; -1: nothing ever is */
};

#define AGENDA_EMPTY { .fd = -1 }

/* 0; or an exit status after saying what is wrong. */
int agenda_read(struct agenda *a, const struct settings *o, const struct say *s);
int agenda_add(struct agenda *a, uint64_t at, uint64_t every, enum agenda_action action);
/* Time runs from now on. 0, or an errno. */
int agenda_start(struct agenda *a);
/* The next thing that is due; false: nothing is. Call until then whenever fd is readable. */
bool agenda_due(struct agenda *a, enum agenda_action *action);
void agenda_free(struct agenda *a);

#endif
