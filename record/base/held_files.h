/* held_files.h - root directories, programs and libraries of processes that may have ended, kept
 * open.
 */
#ifndef RECORD_HELD_FILES_H
#define RECORD_HELD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	HELD_ROOTS_MOST = 32,
	HELD_IMAGES_MOST = 256,
	HELD_PROCESSES_MOST = 4096,
	HELD_COPIES_MOST = 256,
	HELD_PATH = 32,
};

/* A program or library that was not changed since it was started or mapped. */
struct held_image {
	int fd;
	uint64_t ino;
	uint64_t changed;		/* wall clock, ns: its ctime then, or, if it was removed
					 * by then, its mtime */
};

/* A process of another user, PID namespace or root directory than the recorder's: it may have
 * ended. */
struct held_process {
	pid_t pid, inner_pid;		/* the number in its own namespace */
	uid_t user;
	int root;			/* one of held_files.fds; -1: the recorder's */
};

/* A copy of what the JIT compiler of a process that has ended wrote. */
struct held_copy {
	pid_t pid;
	int fd;				/* of held_files.copier */
	enum held_copy_of { HELD_PERF_MAP, HELD_JITDUMP } of;
};

/* Empty if zeroed. */
struct held_files {
	pid_t holder;			/* the process that has them open */
	size_t n;
	int fds[HELD_ROOTS_MOST];	/* root directories */
	size_t nr_images;
	struct held_image images[HELD_IMAGES_MOST];
	const struct held_process *processes;	/* borrowed */
	size_t nr_processes;
	pid_t copier;			/* the process that has the copies open */
	size_t nr_copies;
	struct held_copy copies[HELD_COPIES_MOST];
};

/* Writes the path by which other processes of the same user reach a descriptor of the holder, or of
 * the copier. */
void held_path(pid_t holder, int fd, char path[HELD_PATH]);

/* Returns whether a new descriptor leaves enough others. */
bool held_leaves_room(int fd);
bool held_is_running(pid_t pid);
/* Returns whether a process ended 10 s ago or earlier; *alive: ms, when it was seen to run. */
bool held_is_over(pid_t pid, uint64_t *alive, uint64_t now);

#endif
