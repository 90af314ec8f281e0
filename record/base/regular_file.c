/* regular_file.c - a path is opened as a place, looked at, then opened for reading through that place. */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int open_regular(int dir, const char *path, struct stat *status)
{
	int place = openat(dir, path, O_PATH | O_CLOEXEC), fd = -1, error;
	struct stat own;
	char link[32];

	if (place < 0)
		return -1;
	if (!status)
		status = &own;
	errno = 0;
	if (fstat(place, status) == 0 && S_ISREG(status->st_mode)) {
		/* O_NONBLOCK: somebody may hold a lease. */
		snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	} else if (!errno) {
		errno = EINVAL;
	}
	error = errno;
	close(place);
	errno = error;
	return fd;
}
