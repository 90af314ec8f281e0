/* spare_files.h - descriptors that counters leave to the rest of a recording. */
#ifndef RECORD_SPARE_FILES_H
#define RECORD_SPARE_FILES_H

#include <sys/resource.h>

/* A recording opens fewer at the same time after its counters: the output, /proc and files there
 * for several threads, pipes to other processes, files that were hit. */
enum { SPARE_FILES = 32 };

/* Lowers the limit of open files, which is stored, until spare_files_give_back(). Returns 0, or -1
 * and errno: there are not as many. */
int spare_files_hold(struct rlimit *stored);

/* Keeps errno. */
void spare_files_give_back(const struct rlimit *stored);

#endif
