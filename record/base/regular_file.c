/* regular_file.c - open a path with O_PATH, check its type, then open the same file to read. */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int open_regular(int dir, const char *path, struct stat *status)
{
	int path_fd = openat(dir, path, O_PATH | O_CLOEXEC), fd = -1, error;
	struct stat own, now;
	char link[32];

	if (path_fd < 0)
		return -1;
	if (!status)
		status = &own;
	errno = 0;
	if (fstat(path_fd, status) == 0 && S_ISREG(status->st_mode)) {
		/* O_NONBLOCK: another process may hold a lease on the file. */
		snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0 && errno == ENOENT)	/* /proc is not mounted */
			fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0 && (fstat(fd, &now) || now.st_dev != status->st_dev ||
				now.st_ino != status->st_ino)) {
			close(fd);
			fd = -1;
			errno = EAGAIN;
		}
	} else if (!errno) {
		errno = EINVAL;
	}
	error = errno;
	close(path_fd);
	errno = error;
	return fd;
}
