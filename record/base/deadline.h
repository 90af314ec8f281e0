/* deadline.h - time limits for reading what others own: processes, files and cgroups. */
#ifndef RECORD_DEADLINE_H
#define RECORD_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

struct deadline {
	int64_t end_ms;			/* CLOCK_MONOTONIC; 0: none */
	const bool *hurry;		/* atomic: the user interrupted again; may be NULL */
};

struct deadline deadline_in(unsigned int ms, const bool *hurry);
/* Returns the deadline, or this moment if that is sooner. */
struct deadline deadline_within(const struct deadline *d, unsigned int ms);
struct deadline deadline_later(const struct deadline *d, unsigned int ms);
bool deadline_is_over(const struct deadline *d);
bool deadline_is_hurried(const struct deadline *d);

#endif
