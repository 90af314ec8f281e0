/* counter.h - the open events: one descriptor for each event, cpu and thread. */
#ifndef RECORD_COUNTER_H
#define RECORD_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"
#include "target/target.h"

struct counter {
	int fd;
	size_t event;		/* in the event list */
	int cpu;		/* -1: any */
	pid_t tid;		/* -1: any */
	uint64_t id;
	uint64_t lost;		/* said already */
};

struct counters {
	struct counter *items;	/* by cpu, then thread, then event */
	size_t n;
};

/* Opens all, disabled. What the kernel does not take is left out of the attributes or replaced, and
 * said. 0; or an exit status after saying what is wrong. */
int counters_open(struct counters *c, struct event_list *l, const struct target *t);
void counters_close(struct counters *c);

enum counter_set { COUNTERS_ALL, COUNTERS_HELPERS, COUNTERS_EVENTS };

/* Enables those that no exec enables. */
void counters_start(const struct counters *c, const struct event_list *l, enum counter_set set);
void counters_enable(const struct counters *c, const struct event_list *l, enum counter_set set);
void counters_disable(const struct counters *c, const struct event_list *l, enum counter_set set);

/* Those of the events with this name. False: there are none. */
bool counters_set_named(const struct counters *c, const struct event_list *l, const char *name, bool on);

/* Samples that found no room, as the kernel counts them since 6.0; false where it does not. */
bool counter_lost(const struct counter *c, const struct event_attr *attr, uint64_t *lost);

#endif
