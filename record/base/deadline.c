/* deadline.c - time limits that are cheap enough to check for every map. */
#include "base/deadline.h"

#include <stddef.h>
#include <time.h>

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct deadline deadline_in(unsigned int ms, const bool *hurry)
{
	return (struct deadline){ now_ms() + ms, hurry };
}

struct deadline deadline_within(const struct deadline *d, unsigned int ms)
{
	const struct deadline sooner = deadline_in(ms, d->hurry);

	return d->end_ms && d->end_ms < sooner.end_ms ? *d : sooner;
}

struct deadline deadline_later(const struct deadline *d, unsigned int ms)
{
	return (struct deadline){ d->end_ms ? d->end_ms + ms : 0, d->hurry };
}

bool deadline_is_hurried(const struct deadline *d)
{
	return d->hurry && __atomic_load_n(d->hurry, __ATOMIC_RELAXED);
}

bool deadline_is_over(const struct deadline *d)
{
	return deadline_is_hurried(d) || (d->end_ms && now_ms() > d->end_ms);
}
