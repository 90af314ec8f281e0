/* clock.h - CLOCK_MONOTONIC: the time since an arbitrary start; it never jumps. */
#ifndef PD_TOOLS_CLOCK_H
#define PD_TOOLS_CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t clock_ns(void);
uint64_t clock_ms(void);

/* Returns the time of any clock in ns. */
static inline uint64_t clock_in_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

#endif
