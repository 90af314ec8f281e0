/* loop.h - the event loop of a recording, from starting the counters to stopping them. */
#ifndef RECORD_LOOP_H
#define RECORD_LOOP_H

#include "run/recording.h"

/* Returns 0, or an exit status after logging the error. The file is finished in either case. */
int loop_run(struct recording *r);

#endif
