/* tracefs.c - open tracefs, whether mounted or not. */
#include "base/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#define USUAL_PATH "/sys/kernel/tracing"
#define IN_DEBUGFS "/sys/kernel/debug/tracing"

/* From linux/mount.h, which conflicts with sys/mount.h of some libcs. */
enum { CLOEXEC = 1, COMMAND_CREATE = 6, NOSUID = 2, NODEV = 4, NOEXEC = 8 };

bool tracefs_path(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	bool found = false;
	struct mntent *m;

	snprintf(path, size, "%s", USUAL_PATH);
	while (mounts && !found && (m = getmntent(mounts))) {
		found = strcmp(m->mnt_type, "tracefs") == 0;
		if (found)
			snprintf(path, size, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* The directory also exists, but empty, where nothing is mounted on it. */
static int open_at(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || faccessat(dir, "events", F_OK, 0) == 0)
		return dir;
	close(dir);
	errno = ENOENT;
	return -1;
}

/* A mount that is not attached to the file tree; it ends when its files are closed (Linux 5.2). */
static int open_detached(void)
{
	int dir = -1;
#if defined(SYS_fsopen) && defined(SYS_fsconfig) && defined(SYS_fsmount)
	int context = (int)syscall(SYS_fsopen, "tracefs", CLOEXEC), top = -1, error;

	if (context < 0)
		return -1;
	if (syscall(SYS_fsconfig, context, COMMAND_CREATE, NULL, NULL, 0) == 0)
		top = (int)syscall(SYS_fsmount, context, CLOEXEC, NOSUID | NODEV | NOEXEC);
	/* fsmount(2) returns an O_PATH descriptor, which can't be read. */
	if (top >= 0)
		dir = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = errno;
	if (top >= 0)
		close(top);
	close(context);
	errno = error;
#else
	errno = ENOSYS;
#endif
	return dir;
}

/* As perf does. */
static int mount_and_open(void)
{
	if (mount("tracefs", USUAL_PATH, "tracefs", 0, NULL) == 0)
		return open_at(USUAL_PATH);
	errno = errno == ENODEV ? ENOENT : errno;
	return -1;
}

int tracefs_open(void)
{
	char path[PATH_MAX];
	int dir = open_at(USUAL_PATH);

	if (dir >= 0)
		return dir;
	if (tracefs_path(path, sizeof(path)))
		return open_at(path);
	dir = open_at(IN_DEBUGFS);
	if (dir < 0)
		dir = open_detached();
	return dir >= 0 ? dir : mount_and_open();
}
