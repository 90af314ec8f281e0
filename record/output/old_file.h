/* old_file.h - keep or remove an older file under the name of the output. */
#ifndef RECORD_OLD_FILE_H
#define RECORD_OLD_FILE_H

#include "base/log.h"
#include "files/output_place.h"

/* Makes room for a recording. An older one, file or directory, becomes NAME.old and replaces an
 * older NAME.old. Links, FIFOs and sockets are removed, not followed. Other directories, devices
 * and the caller's own empty files stay. path: the name for messages. Returns 0, or -1 if
 * what should be moved or removed is still there. */
int old_file_keep(const struct place *at, const char *path, const struct logger *s);

#endif
