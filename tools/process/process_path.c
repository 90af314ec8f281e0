/* process_path.c - paths in the root directory of a process: see process_path.h. */
#include "process/process_path.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* It is the last of the line. */
pid_t process_inner_pid(pid_t pid)
{
	char path[32], line[256];
	int inner = pid, at, n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		for (at = 6; sscanf(line + at, "%d%n", &inner, &n) == 1; at += n)
			;
		break;
	}
	if (f)
		fclose(f);
	return inner;
}

static void set_inner_number(struct process_path *p)
{
	char map[48];

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)p->pid);
	if (strcmp(p->inside, map) == 0)
		snprintf(p->inside, sizeof(p->inside), "/tmp/perf-%d.map",
			 process_inner_pid(p->pid));
}

bool process_path_read(const char *path, struct process_path *out)
{
	int pid = 0, fd = -1, end = 0;

	if (sscanf(path, "/proc/%9d/root%n", &pid, &end) != 1 || !end)
		sscanf(path, "/proc/%9d/fd/%9d%n", &pid, &fd, &end);
	if (!end || pid <= 0 || path[end] != '/' || strlen(path + end) >= sizeof(out->inside))
		return false;
	out->pid = pid;
	if (fd < 0)
		snprintf(out->root, sizeof(out->root), "/proc/%d/root", pid);
	else
		snprintf(out->root, sizeof(out->root), "/proc/%d/fd/%d", pid, fd);
	snprintf(out->inside, sizeof(out->inside), "%s", path + end);
	if (fd < 0)
		set_inner_number(out);
	return true;
}

/* Returns the process of "/proc/PID/fd/N", or 0 if the path is another one. */
static pid_t holder_of(const char *path)
{
	int pid = 0, fd = -1, end = 0;

	sscanf(path, "/proc/%9d/fd/%9d%n", &pid, &fd, &end);
	return end && pid > 0 && fd >= 0 && !path[end] ? pid : 0;
}

bool process_path_is_open_in(const char *path, pid_t pid)
{
	return pid > 0 && holder_of(path) == pid;
}

bool process_path_is_mapped(const char *path)
{
	static const char hex[] = "0123456789abcdef";
	int pid = 0, start = 0;
	size_t middle;

	if (holder_of(path))
		return true;
	if (sscanf(path, "/proc/%9d/map_files/%n", &pid, &start) != 1 || !start || pid <= 0)
		return false;
	middle = strspn(path + start, hex);
	path += (size_t)start + middle;
	return middle && path[0] == '-' && path[1] && !path[1 + strspn(path + 1, hex)];
}

bool process_has_user(pid_t pid, uid_t user)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 && st.st_uid == user;
}
