/* lateclock.c - preloaded: another task runs for LATE_MS after most readings of the wall clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ON_TIME = 3 };	/* each third one */

int clock_gettime(clockid_t clock, struct timespec *out)
{
	static int (*real)(clockid_t, struct timespec *);
	static unsigned int n;
	const char *ms = getenv("LATE_MS");
	int err;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	err = real(clock, out);
	if (ms && clock == CLOCK_REALTIME && ++n % ON_TIME)
		usleep(1000 * (useconds_t)atoi(ms));
	return err;
}
