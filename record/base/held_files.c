/* held_files.c - paths of descriptors, and how long they are kept. */
#include "base/held_files.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

enum {
	KEPT_MS = 10000,		/* after the process ended: who removes a container waits */
	OTHER_FILES = 64,		/* that can still be opened */
};

void held_path(pid_t holder, int fd, char path[HELD_PATH])
{
	snprintf(path, HELD_PATH, "/proc/%d/fd/%d", (int)holder, fd);
}

/* The lowest numbers are given first. */
bool held_leaves_room(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd + OTHER_FILES < limit.rlim_cur;
}

bool held_is_running(pid_t pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

bool held_is_over(pid_t pid, uint64_t *alive, uint64_t now)
{
	if (held_is_running(pid))
		*alive = now;
	return now - *alive >= KEPT_MS;
}
