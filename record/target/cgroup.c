/* cgroup.c - open cgroups: of version 1 with the controller perf_event, else of version 2. */
#include "target/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool find_mount(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	bool found = false, final = false;
	struct mntent *m;

	while (mounts && !final && (m = getmntent(mounts))) {
		final = strcmp(m->mnt_type, "cgroup") == 0 && hasmntopt(m, "perf_event");
		if (final || (strcmp(m->mnt_type, "cgroup2") == 0 && !found))
			found = snprintf(path, size, "%s", m->mnt_dir) < (int)size;
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* A name with dots may lead out of the file system. */
static bool is_cgroup(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

int cgroup_open(const char *name)
{
	char mount[PATH_MAX], path[2 * PATH_MAX];
	int fd;

	if (!find_mount(mount, sizeof(mount))) {
		errno = ENODEV;
		return -1;
	}
	snprintf(path, sizeof(path), "%s/%s", mount, name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || is_cgroup(fd))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}
