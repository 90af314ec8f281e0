/* perf_clock.h - the clock of events without a clockid, read with the wall clock. */
#ifndef RECORD_PERF_CLOCK_H
#define RECORD_PERF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* One moment on two clocks, in ns. */
struct perf_clock_pair {
	uint64_t perf, wall;
};

/* Returns false if the kernel does not allow it. */
bool perf_clock_read(struct perf_clock_pair *out);

#endif
