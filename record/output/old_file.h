/* old_file.h - what stands where a recording is to be. */
#ifndef RECORD_OLD_FILE_H
#define RECORD_OLD_FILE_H

#include "base/log.h"
#include "output_place.h"

/* Makes room for a recording. One that is there, file or directory, becomes NAME.old and replaces what is called so.
 * Links, FIFOs and the like are removed, and what they lead to is left alone. Directories of something else, devices and
 * empty files of the caller's own stay. path: the name for messages. */
void old_file_keep(const struct place *at, const char *path, const struct logger *s);

#endif
