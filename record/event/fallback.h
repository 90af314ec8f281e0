/* fallback.h - what to try when perf_event_open(2) refuses an event. */
#ifndef RECORD_FALLBACK_H
#define RECORD_FALLBACK_H

#include <stdint.h>

#include "event/event.h"
#include "target/target.h"

struct fallback {
	const struct target *target;
	uint32_t dropped;		/* steps that were taken, a bit each */
	bool user_only, more_files;
	struct event_attr *original;	/* of all events, saved before the first step */
};

/* Changes the events so that opening may succeed. False: nothing is left to try, and steps for an
 * older kernel are undone. */
bool fallback_next(struct fallback *f, struct event_list *l, size_t event, int error);
/* Logs what was left out, and frees. */
void fallback_done(struct fallback *f, const struct event_list *l);

#endif
