/* sysctl.c - read and write numbers in /proc/sys/kernel. */
#include "base/sysctl.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

long sysctl_read(const char *name, long missing)
{
	char path[128], text[32];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return missing;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return missing;
	text[size] = '\0';
	return strtol(text, NULL, 10);
}

bool sysctl_write(const char *name, long value)
{
	char path[128];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = dprintf(fd, "%ld\n", value) > 0;
	return close(fd) == 0 && ok;
}
