/* source.h - keep outputs as private as the recording: users who can't read it can't read what is
 * made from it.
 */
#ifndef PD_TOOLS_SOURCE_H
#define PD_TOOLS_SOURCE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Gets the mode and group of the input: an open descriptor, or (fd -1) a path; for a directory its
 * file `data` counts, too. Returns false for a stream, which restricts nothing. */
bool source_stat(const char *path, int fd, struct stat *st);
/* Returns `mode` less what the source does not allow to others. gid: group of the file that gets
 * the mode. */
mode_t source_limit(mode_t mode, const struct stat *source, gid_t gid);
/* Returns the umask(2) without changing it. */
mode_t source_umask(void);

#endif
