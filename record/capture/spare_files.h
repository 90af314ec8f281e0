/* spare_files.h - descriptors that counters leave to the rest of a recording. */
#ifndef RECORD_SPARE_FILES_H
#define RECORD_SPARE_FILES_H

#include <stddef.h>

/* A recording opens fewer at the same time after its counters: the output, /proc and files there
 * for several threads, pipes to other processes, files that were hit. */
enum { SPARE_FILES = 32 };

struct spare_files {
	int fds[SPARE_FILES];
	size_t n;
};

/* Returns 0, or -1 and errno: there are not as many. Must be given back in both cases. */
int spare_files_hold(struct spare_files *s);

/* Keeps errno. */
void spare_files_give_back(struct spare_files *s);

#endif
