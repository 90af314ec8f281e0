/* gate.c - preloaded: who opens a file whose name ends in GATE_AT ("/maps") waits while the file GATE
 * is there, not for ever; the first one leaves GATE.reached. With NO_THREADS no thread can be
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

int openat(int dir, const char *path, int flags, ...)
{
	static int (*real)(int, const char *, int, ...);
	const char *gate = getenv("GATE"), *at = getenv("GATE_AT");
	mode_t mode = 0;
	va_list args;

	if (!real)
		real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, mode_t);
	va_end(args);
	if (gate && dir != AT_FDCWD && ends_in(path, at ? at : "/maps"))
		wait_at(gate);
	return real(dir, path, flags, mode);
}

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
