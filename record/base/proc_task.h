/* proc_task.h - a snapshot of a process from /proc. */
#ifndef RECORD_PROC_TASK_H
#define RECORD_PROC_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TASK_COMM 16
#define TASK_NAMESPACES 7

struct task_thread {
	pid_t tid;
	char comm[TASK_COMM];
};

struct task_ns {
	uint64_t dev, inode;
};

enum task_want {
	TASK_MAPS = 1 << 0,
	TASK_THREADS = 1 << 1,		/* its other threads */
	TASK_NS = 1 << 2,
};

/* Buffers are reused from one task to the next. */
struct task {
	pid_t pid, ppid;
	char comm[TASK_COMM];		/* of the process's first thread */
	bool kernel;
	struct task_thread *threads;	/* without the first */
	size_t nr_threads, room_threads;
	struct task_ns namespaces[TASK_NAMESPACES];
	size_t nr_namespaces;
	char *maps;			/* /proc/PID/maps, with a NUL at the end */
	size_t maps_size, maps_room;
	bool timed_out;			/* the maps are incomplete */
	bool lacks_memory;		/* for all maps or threads */
};

/* proc: an open descriptor of /proc. False: the process has ended, or is hidden. */
bool task_read(struct task *t, int proc, pid_t pid, unsigned int want, unsigned int timeout_ms);
void task_release(struct task *t);

/* Store the name and process of a thread. False: it has ended. */
bool task_thread_name(int proc, pid_t pid, pid_t tid, char comm[TASK_COMM]);
bool task_thread_process(int proc, pid_t tid, pid_t *pid);
/* Stores the name of the calling thread, which is also that of a process it has just forked. */
void task_own_name(char comm[TASK_COMM]);

struct task_map {
	uint64_t start, end, pgoff, ino;
	uint32_t maj, min, prot, flags;
	const char *name;		/* name_size bytes, without a NUL */
	size_t name_size;
};

/* Parses the next mapping and moves *text past its line. False: no more. */
bool task_map_next(const char **text, struct task_map *out);

#endif
