/* clock.c - see clock.h. */
#include "process/clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}
