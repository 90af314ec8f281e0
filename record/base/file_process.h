/* file_process.h - a process of its own for reading files that may never answer.
 *
 * A thread that waits for a file system such as NFS or FUSE can't always be ended, and a process
 * does not end before all of its threads. So another process reads such files, and the recorder
 * goes on without it if there is no answer.
 */
#ifndef RECORD_FILE_PROCESS_H
#define RECORD_FILE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/deadline.h"

struct file_process {
	pid_t pid;
	int socket;			/* -1: none runs */
};

#define FILE_PROCESS_NONE { 0, -1 }

/* Calls run(arg, socket, file) in a copy of this process that has no other descriptors: a socket to
 * the caller, and a copy of `file` unless that is -1. Returns false if there can't be one. */
bool file_process_start(struct file_process *p, void (*run)(void *arg, int socket, int file),
			void *arg, int file);

enum file_answer {
	FILE_ANSWERED,
	FILE_SILENT,			/* until the deadline */
	FILE_ENDED,			/* the process ended */
};

/* Receives `size` bytes. */
enum file_answer file_process_receive(const struct file_process *p, void *bytes, size_t size,
				      const struct deadline *deadline);
/* For both sides, which ignore SIGPIPE: returns whether all bytes could be sent. A sandbox allows
 * it. */
bool file_process_send(int socket, const void *bytes, size_t size);
/* Kills the process. Does not wait for one that can't be ended. */
void file_process_end(struct file_process *p);

#endif
