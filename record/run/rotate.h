/* rotate.h - --switch-output: end a file, begin another. */
#ifndef RECORD_ROTATE_H
#define RECORD_ROTATE_H

#include "run/recording.h"

/* --switch-output=signal|SIZE|TIME. 0; or an exit status after saying what is wrong. */
int rotate_read(struct recording *r);
/* 0, or -1 and r->file.error. */
int rotate_file(struct recording *r);

#endif
