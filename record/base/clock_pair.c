/* clock_pair.c - read two clocks at one moment. */
#include "base/clock_pair.h"

#include "process/clock.h"

enum { ATTEMPTS = 5 };

static bool read_once(clockid_t first, clockid_t second, struct clock_pair *out, uint64_t *width)
{
	struct timespec before, between, after;

	if (clock_gettime(first, &before) || clock_gettime(second, &between) ||
	    clock_gettime(first, &after))
		return false;
	*width = clock_in_ns(&after) - clock_in_ns(&before);
	out->first = clock_in_ns(&before) + *width / 2;
	out->second = clock_in_ns(&between);
	return true;
}

bool clock_pair_read(clockid_t first, clockid_t second, struct clock_pair *out)
{
	struct clock_pair pair;
	uint64_t width, best = UINT64_MAX;

	for (int i = 0; i < ATTEMPTS; i++) {
		if (!read_once(first, second, &pair, &width))
			return false;
		if (width < best) {
			best = width;
			*out = pair;
		}
	}
	return true;
}
