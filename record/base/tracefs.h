/* tracefs.h - the file system of tracepoints and probes. */
#ifndef RECORD_TRACEFS_H
#define RECORD_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

/* Opens tracefs where it is mounted; else by a detached mount that no other process sees; else
 * mounts it at the usual path. Returns a directory, or -1 and errno: ENOENT if the kernel has no
 * tracefs. */
int tracefs_open(void);

/* Stores the path at which tracefs is mounted. False: it is not mounted; path is the usual one. */
bool tracefs_path(char *path, size_t size);

#endif
