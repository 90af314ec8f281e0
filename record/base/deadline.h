/* deadline.h - how long the recorder looks at what others own: their processes, files and cgroups. */
#ifndef RECORD_DEADLINE_H
#define RECORD_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct deadline {
	int64_t end_ms;			/* CLOCK_MONOTONIC; 0: none */
	const bool *hurry;		/* atomic: the user waits no longer; may be NULL */
};

struct deadline deadline_in(unsigned int ms, const bool *hurry);
bool deadline_is_over(const struct deadline *d);

#endif
