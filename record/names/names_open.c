/* names_open.c - opens files for names: see names_open.h. */
#include "names/names_open.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/silent_files.h"
#include "opener.h"

/* The number in "/tmp/perf-PID.map" and ".../jit-PID.dump"; 0: neither. */
static int pid_of(const char *path)
{
	const char *name = strrchr(path, '/');
	int pid = 0, end = 0;

	if (name && ((sscanf(name, "/perf-%d.map%n", &pid, &end) == 1 && end) ||
		     (sscanf(name, "/jit-%d.dump%n", &pid, &end) == 1 && end)) && !name[end])
		return pid > 0 ? pid : 0;
	return 0;
}

/* The number of a process in its own namespace; 0: it is gone, or in ours. */
static int inner_pid(int pid)
{
	char path[32], line[256];
	int outer = 0, inner = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "NSpid: %d %d", &outer, &inner) == 2)
			break;
	if (f)
		fclose(f);
	return inner;
}

static bool is_owner(int pid, const struct stat *file)
{
	char path[32];
	struct stat st;

	if (file->st_uid == geteuid() || file->st_uid == 0)
		return true;
	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &st) == 0 && st.st_uid == file->st_uid;
}

/* In a container the file is in the root of its process, under the number there. */
static int open_written(const char *path)
{
	const int pid = pid_of(path), inner = pid ? inner_pid(pid) : 0;
	char inside[PATH_MAX + 32];
	struct stat st, link;
	int fd;

	if (!pid)
		return -1;
	if (inner && strncmp(path, "/tmp/perf-", 10) == 0)
		snprintf(inside, sizeof(inside), "/proc/%d/root/tmp/perf-%d.map", pid, inner);
	else
		snprintf(inside, sizeof(inside), "%s", path);
	if (lstat(inside, &link) || !S_ISREG(link.st_mode))
		return -1;
	fd = open_regular(AT_FDCWD, inside, &st);
	if (fd < 0 || (is_owner(pid, &st) && st.st_ino == link.st_ino))
		return fd;
	close(fd);
	return -1;
}

static bool is_elf(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

int names_open(void *silent, const char *path, enum ps_file_place place)
{
	struct opener here = OPENER_CLOSED;
	int fd;

	if (silent_files_have(silent, path))
		return -1;
	if (place == PS_PLACE_RUNNING)
		return opener_open(&here, path, place);
	if (place == PS_PLACE_TEMPORARY)
		return open_written(path);
	fd = open_regular(AT_FDCWD, path, NULL);
	if (fd < 0 || is_elf(fd))
		return fd;
	close(fd);
	return -1;
}
