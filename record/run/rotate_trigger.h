/* rotate_trigger.h - --switch-output-event: events that are not recorded but begin a new file when
 * they occur. */
#ifndef RECORD_ROTATE_TRIGGER_H
#define RECORD_ROTATE_TRIGGER_H

#include "base/options.h"
#include "capture/counter.h"
#include "capture/rings.h"
#include "event/event.h"
#include "target/target.h"

struct rotate_trigger {
	struct event_list events;
	struct counters counters;
	struct rings rings;
	int epoll;		/* readable when an event may have occurred; -1: no events */
};

#define ROTATE_TRIGGER_NONE { .epoll = -1 }

/* Parses the events for this target. Returns 0, or an exit status after logging the error. */
int rotate_trigger_read(struct rotate_trigger *s, const struct settings *o, const struct target *t,
			const struct logger *log);
/* Opens the events, disabled, and maps a small buffer for each CPU or thread. Returns 0, or an exit
 * status after logging the error. */
int rotate_trigger_open(struct rotate_trigger *s, const struct settings *o, const struct target *t);
void rotate_trigger_start(const struct rotate_trigger *s);
/* Returns whether any occurred since the last call. */
bool rotate_trigger_occurred(struct rotate_trigger *s);
void rotate_trigger_close(struct rotate_trigger *s);

#endif
