/* gate.c - preloaded: who opens a file whose name ends in GATE_AT ("/maps") waits while the file
 * GATE is there, not for ever; the first one leaves GATE.reached. With NO_THREADS no thread can be
 * made, and that is said. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_MS = 10000, STEP_MS = 5 };

static int ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && strcmp(path + n - m, end) == 0;
}

static void wait_at(const char *gate)
{
	static int given_up;
	char reached[4096];
	int waited = 0;

	if (given_up || access(gate, F_OK))
		return;
	snprintf(reached, sizeof(reached), "%s.reached", gate);
	close(creat(reached, 0600));
	for (; !access(gate, F_OK) && waited < MOST_MS; waited += STEP_MS)
		usleep(STEP_MS * 1000);
	if (waited < MOST_MS)
		return;
	given_up = 1;
	fprintf(stderr, "the gate stayed shut\n");
}

typedef int (*openat_function)(int dir, const char *path, int flags, ...);

static int open_gated(openat_function real, int dir, const char *path, int flags, mode_t mode)
{
	const char *gate = getenv("GATE"), *at = getenv("GATE_AT");

	if (gate && dir != AT_FDCWD && ends_in(path, at ? at : "/maps"))
		wait_at(gate);
	return real(dir, path, flags, mode);
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

/* With 64-bit file offsets glibc has the other name for it. */
#define GATED(name) \
int name(int dir, const char *path, int flags, ...) \
{ \
	static openat_function real; \
	mode_t mode; \
	va_list args; \
\
	if (!real) \
		real = (openat_function)dlsym(RTLD_NEXT, #name); \
	va_start(args, flags); \
	mode = mode_of(flags, args); \
	va_end(args); \
	return open_gated(real, dir, path, flags, mode); \
}
GATED(openat)
GATED(openat64)

int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (getenv("NO_THREADS")) {
		fprintf(stderr, "a thread was refused\n");
		return EAGAIN;
	}
	real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
		dlsym(RTLD_NEXT, "pthread_create");
	return real(t, attr, run, arg);
}
