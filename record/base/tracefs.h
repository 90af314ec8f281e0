/* tracefs.h - the file system of tracepoints and probes. */
#ifndef RECORD_TRACEFS_H
#define RECORD_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

/* Opens tracefs: where it is mounted, else through a mount that nobody else sees, else mounted at its usual place.
 * Returns a directory, or -1 and errno: ENOENT where the kernel has none, else why it can't be reached. */
int tracefs_open(void);

/* Stores where tracefs is mounted. False: nowhere that can be seen; path is then where it should be. */
bool tracefs_path(char *path, size_t size);

#endif
