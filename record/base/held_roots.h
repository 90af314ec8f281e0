/* held_roots.h - root directories that are kept open, of processes that may have ended. */
#ifndef RECORD_HELD_ROOTS_H
#define RECORD_HELD_ROOTS_H

#include <stddef.h>
#include <sys/types.h>

enum { HELD_ROOTS_MOST = 32, HELD_ROOT_PATH = 32 };

/* Empty if zeroed. */
struct held_roots {
	pid_t holder;			/* the process that has them open */
	size_t n;
	int fds[HELD_ROOTS_MOST];
};

/* Writes the path by which other processes of the same user reach the i-th one. */
void held_root_path(const struct held_roots *h, size_t i, char path[HELD_ROOT_PATH]);

#endif
