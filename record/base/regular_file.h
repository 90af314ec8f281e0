/* regular_file.h - open files of others for reading, and only files. */
#ifndef RECORD_REGULAR_FILE_H
#define RECORD_REGULAR_FILE_H

struct stat;

/* The path is looked at before it is opened for reading: a device may do something when it is opened, a FIFO may wait.
 * Relative to the directory `dir` or AT_FDCWD. Returns a descriptor and the file's status (NULL: not wanted), or -1 and
 * errno. */
int open_regular(int dir, const char *path, struct stat *status);

#endif
