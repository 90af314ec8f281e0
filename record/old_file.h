/* old_file.h - what stands where a recording is to be. */
#ifndef RECORD_OLD_FILE_H
#define RECORD_OLD_FILE_H

#include "say.h"

/* A recording, file or directory, is kept as PATH.old, in place of one that is called so. Anything
 * else is left. */
void old_file_keep(const char *path, const struct say *s);

#endif
