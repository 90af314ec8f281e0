/* rotate.h - --switch-output: end one file and begin the next. */
#ifndef RECORD_ROTATE_H
#define RECORD_ROTATE_H

#include "run/recording.h"

/* Parses --switch-output=signal|SIZE|TIME. Returns 0, or an exit status after logging the error. */
int rotate_read(struct recording *r);
/* Returns 0, or -1 and r->file.error. */
int rotate_file(struct recording *r);

#endif
