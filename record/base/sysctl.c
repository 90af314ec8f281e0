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

static bool sysctl_write(const char *name, long value)
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

bool sysctl_set(struct sysctl_change *c, const char *name, long value)
{
	const long before = sysctl_read(name, -1);

	if (!sysctl_write(name, value))
		return false;
	*c = (struct sysctl_change){ name, before };
	return true;
}

void sysctl_restore(struct sysctl_change *c)
{
	if (c->name)
		sysctl_write(c->name, c->before);
	c->name = NULL;
}
