/* slowdisk.c - preloaded: a write of 4 KiB or more takes SLOW_MS longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t size)
{
	static ssize_t (*real)(int, const void *, size_t);
	const char *ms = getenv("SLOW_MS");

	if (!real)
		real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	if (ms && size >= 4096)
		usleep(1000 * (useconds_t)atoi(ms));
	return real(fd, bytes, size);
}
