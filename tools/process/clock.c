/* clock.c - see clock.h. */
#include "process/clock.h"

uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return clock_in_ns(&t);
}

uint64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}
