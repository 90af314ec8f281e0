/* allevents.c - preloaded: perf_event_open(2) accepts every attribute, and its descriptors are
 * memory that can be mapped as a buffer without records. Recorders then write every event that they
 * were asked for into their file, whatever the machine has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "forward.h"

enum { BUFFER = 64 << 20, MOST_FDS = 1 << 16 };

static uint64_t ids[MOST_FDS];		/* by descriptor, 0: none of ours */
static uint64_t last_id;

static long open_event(void)
{
	int fd = memfd_create("event", MFD_CLOEXEC);

	if (fd < 0 || fd >= MOST_FDS || ftruncate(fd, BUFFER))
		return -1;
	ids[fd] = ++last_id;
	return fd;
}

long syscall(long nr, ...)
{
	va_list args;
	long a[NR_ARGS];

	if (nr == SYS_perf_event_open)
		return open_event();
	va_start(args, nr);
	take_args(a, args);
	va_end(args);
	return forward_syscall(nr, a);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (fd >= 0 && fd < MOST_FDS && ids[fd]) {
		if (request == PERF_EVENT_IOC_ID)
			*(uint64_t *)arg = ids[fd];
		return 0;
	}
	if (!real)
		real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	return real(fd, request, arg);
}
