/* regular_file.h - open files that other users may own, and nothing but regular files. */
#ifndef RECORD_REGULAR_FILE_H
#define RECORD_REGULAR_FILE_H

struct stat;

/* Opens a regular file for reading. Its type is checked before it is opened, because opening can
 * have effects on a device and can block on a FIFO. path is relative to the directory `dir` or
 * AT_FDCWD. Returns a descriptor, and the file's status unless status is NULL; or -1 and errno. */
int open_regular(int dir, const char *path, struct stat *status);

#endif
