/* strangers.h - remembers processes of other users, PID namespaces and root directories: what their
 * JIT compilers write is found by it once they have ended.
 */
#ifndef RECORD_STRANGERS_H
#define RECORD_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/held_files.h"

/* Empty if zeroed. */
struct strangers {
	uint64_t own_ns_dev, own_ns_ino;	/* the recorder's PID namespace */
	struct held_process *of;		/* HELD_PROCESSES_MOST; NULL: no memory */
	size_t n;
	size_t oldest;				/* which gives way, if there are as many */
};

void strangers_start(struct strangers *s);
/* Remembers a process, unless it is as the recorder is. root: a descriptor that is held, or -1. */
void strangers_add(struct strangers *s, pid_t pid, int root);
/* Remembers the child of a process that was remembered. */
void strangers_fork(struct strangers *s, pid_t parent, pid_t child);
/* Returns a process that was remembered, or NULL. */
const struct held_process *strangers_find(const struct strangers *s, pid_t pid);
/* Returns one that still runs in a root directory, or -1. */
pid_t strangers_running_in(const struct strangers *s, int root);
/* Forgets the processes of a root directory that is no longer held. */
void strangers_forget_root(struct strangers *s, int root);
void strangers_close(struct strangers *s);

#endif
