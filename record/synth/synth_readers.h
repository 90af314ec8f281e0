/* synth_readers.h - read many processes on several threads and return them in order. */
#ifndef RECORD_SYNTH_READERS_H
#define RECORD_SYNTH_READERS_H

#include <stddef.h>

#include "base/proc_task.h"

struct synth_readers;

/* Borrows pids. want: enum task_want. nr: threads besides the caller's; 0: by the number of
 * processes. Returns NULL without memory. */
struct synth_readers *synth_readers_start(const unsigned int *pids, size_t n, unsigned int want,
					  unsigned int timeout_ms, unsigned int nr);
/* Returns the next process that still exists, borrowed until the next call; NULL after the last. */
const struct task *synth_readers_next(struct synth_readers *r);
void synth_readers_stop(struct synth_readers *r);	/* NULL is fine */

#endif
