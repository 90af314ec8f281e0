/* process_path.h - paths that mean what they mean in the root directory of a process, which may
 * differ from ours: in a container, or after chroot(2). */
#ifndef PD_TOOLS_PROCESS_PATH_H
#define PD_TOOLS_PROCESS_PATH_H

#include <stdbool.h>
#include <sys/types.h>

struct process_path {
	pid_t pid;
	char root[32];			/* "/proc/PID/root", or "/proc/PID/fd/N" */
	char inside[4096];		/* the rest. /tmp/perf-PID.map has the process's number in
					 * its own PID namespace */
};

/* Divides "/proc/PID/root/...", or "/proc/PID/fd/N/..." where the descriptor is a directory that a
 * process keeps open in place of another's root. Returns false if the path is no such one. */
bool process_path_read(const char *path, struct process_path *out);

/* Returns whether the path is one of "/proc/PID/map_files/START-END", a link to what the process
 * has mapped there, or "/proc/PID/fd/N", one to what it has open. */
bool process_path_is_mapped(const char *path);

/* Returns whether the path is "/proc/PID/fd/N" of this process. */
bool process_path_is_open_in(const char *path, pid_t pid);

/* Returns whether the process runs and belongs to the user. */
bool process_has_user(pid_t pid, uid_t user);

/* Returns the number of a process in its own PID namespace; its number here if it has ended. */
pid_t process_inner_pid(pid_t pid);

#endif
