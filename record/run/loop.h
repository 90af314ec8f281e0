/* loop.h - from the start of the counters to their end. */
#ifndef RECORD_LOOP_H
#define RECORD_LOOP_H

#include "run/recording.h"

/* 0; or an exit status after saying what is wrong. The file is finished in any case. */
int loop_run(struct recording *r);

#endif
