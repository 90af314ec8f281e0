/* counter.h - counters: a perf_event_open(2) descriptor for each event, CPU and thread. */
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
	size_t event;		/* index in the event list */
	int cpu;		/* -1: any */
	pid_t tid;		/* -1: any */
	uint64_t id;
	uint64_t lost;		/* samples; written as LOST_SAMPLES already */
};

struct counters {
	struct counter *items;	/* sorted by CPU, then thread, then event */
	size_t n;
};

/* Opens all counters, disabled. Falls back, with a message, from attributes that the kernel
 * refuses. Returns 0, or an exit status after logging the error. */
int counters_open(struct counters *c, struct event_list *l, const struct target *t);
void counters_close(struct counters *c);

enum counter_set { COUNTERS_ALL, COUNTERS_HELPERS, COUNTERS_EVENTS };

/* Enables the counters that are not enabled by an exec. */
void counters_start(const struct counters *c, const struct event_list *l, enum counter_set set);
void counters_enable(const struct counters *c, const struct event_list *l, enum counter_set set);
void counters_disable(const struct counters *c, const struct event_list *l, enum counter_set set);

/* Enables or disables the counters of the events with this name. Returns false if there are
 * none. */
bool counters_set_named(const struct counters *c, const struct event_list *l, const char *name,
			bool on);

/* Stores the number of samples that the kernel had no room for. Returns false before Linux 6.0,
 * which does not count them. */
bool counter_lost(const struct counter *c, const struct event_attr *attr, uint64_t *lost);

/* Adds a counter to an epoll, by its descriptor. Returns 0, or -1 and errno. */
int counter_watch(int epoll, int fd);
/* Removes counters that hung up, as their task ended: they would stay readable. */
void counters_unwatch_ended(int epoll);

#endif
