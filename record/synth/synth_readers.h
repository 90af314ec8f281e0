/* synth_readers.h - reads many processes on several threads, hands them out in order. */
#ifndef RECORD_SYNTH_READERS_H
#define RECORD_SYNTH_READERS_H

#include <stddef.h>

#include "base/proc_task.h"

struct synth_readers;

/* pids is borrowed. want: enum task_want. nr: threads besides the caller's; 0: as many as pay.
 * NULL: no memory. */
struct synth_readers *synth_readers_start(const unsigned int *pids, size_t n, unsigned int want,
					  unsigned int timeout_ms, unsigned int nr);
/* The next process that still exists, borrowed until the next call; NULL behind the last. */
const struct task *synth_readers_next(struct synth_readers *r);
void synth_readers_stop(struct synth_readers *r);	/* NULL is fine */

#endif
