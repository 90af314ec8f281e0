/* source.h - a recording is private: whoever can't read it can't read what is made from it. */
#ifndef PD_TOOLS_SOURCE_H
#define PD_TOOLS_SOURCE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Who may read the input: an open descriptor, or (fd -1) a path, of a directory its file `data` included. False: it does
 * not say, as it is a stream. */
bool source_stat(const char *path, int fd, struct stat *st);
/* `mode` less what the source does not allow to others. gid: the group of the file that gets the mode. */
mode_t source_limit(mode_t mode, const struct stat *source, gid_t gid);
/* umask(2), unchanged. */
mode_t source_umask(void);

#endif
