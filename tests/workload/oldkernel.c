/* oldkernel.c - preloaded: a perf_event_open(2) that knows no more than OLD_FLAGS, OLD_SAMPLE and
 * OLD_READ (hex masks of attr.flags, sample_type, read_format) allow; OLD_ERRNO (for OLD_TYPE)
 * refuses a type of events altogether. OLD_RELEASE is what uname(2) says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "forward.h"

static uint64_t number(const char *name, uint64_t missing)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 16) : missing;
}

static uint64_t field(const void *attr, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)attr + offset, sizeof(value));
	return value;
}

static int refuses(const void *attr)
{
	uint32_t type;

	memcpy(&type, attr, sizeof(type));
	if (type == number("OLD_TYPE", UINT64_MAX))
		return (int)number("OLD_ERRNO", 0);
	if (field(attr, 24) & ~number("OLD_SAMPLE", UINT64_MAX) ||
	    field(attr, 32) & ~number("OLD_READ", UINT64_MAX) ||
	    field(attr, 40) & ~number("OLD_FLAGS", UINT64_MAX))
		return EINVAL;
	return 0;
}

int uname(struct utsname *u)
{
	static int (*real)(struct utsname *);
	const char *release = getenv("OLD_RELEASE");
	int got;

	if (!real)
		real = (int (*)(struct utsname *))dlsym(RTLD_NEXT, "uname");
	got = real(u);
	if (!got && release)
		strncpy(u->release, release, sizeof(u->release) - 1);
	return got;
}

long syscall(long nr, ...)
{
	long a[NR_ARGS];
	va_list args;

	va_start(args, nr);
	take_args(a, args);
	va_end(args);
	if (nr == SYS_perf_event_open && refuses((const void *)a[0])) {
		errno = refuses((const void *)a[0]);
		return -1;
	}
	return forward_syscall(nr, a);
}
