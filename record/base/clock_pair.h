/* clock_pair.h - two clocks, read at one moment. */
#ifndef RECORD_CLOCK_PAIR_H
#define RECORD_CLOCK_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* In ns. */
struct clock_pair {
	uint64_t first, second;
};

/* Reads both clocks several times, and keeps the reading that took the least time: another task may
 * run in between. Returns false if a clock can't be read. */
bool clock_pair_read(clockid_t first, clockid_t second, struct clock_pair *out);

#endif
