/* kernel_version.c - the version of the running kernel, from uname(2). */
#include "base/kernel_version.h"

#include <stdio.h>
#include <sys/utsname.h>

static bool read_version(const char *text, int *major, int *minor)
{
	return sscanf(text, "%d.%d", major, minor) == 2;
}

bool kernel_is_at_least(int major, int minor)
{
	int own_major, own_minor;
	struct utsname host;

	if (uname(&host) || !read_version(host.release, &own_major, &own_minor))
		return false;
	return own_major > major || (own_major == major && own_minor >= minor);
}

bool kernel_is_at_least_text(const char *version)
{
	int major, minor;

	return read_version(version, &major, &minor) && kernel_is_at_least(major, minor);
}
