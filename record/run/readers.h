/* readers.h - --threads: a thread for each group of CPUs drains its buffers into a file of its own,
 * data.N of the directory. The main thread does everything else. */
#ifndef RECORD_READERS_H
#define RECORD_READERS_H

#include "run/recording.h"

/* Parses --threads and refuses options that exclude it. Returns 0, or an exit status after logging
 * the error. */
int readers_choose(struct recording *r);

/* Starts the threads. Must be called before the counters are enabled. Returns 0, or an exit status
 * after logging the error. */
int readers_start(struct recording *r);
/* Returns a descriptor that is readable once a thread failed. */
int readers_failed_fd(const struct readers *t);
/* Returns the bytes written so far; 0 if t is NULL. */
uint64_t readers_size(const struct readers *t);
/* Drains what is left and ends the threads, if there are any. Must be called after the counters
 * were disabled. Returns 0, or -1 and r->file.error. */
int readers_stop(struct recording *r);

#endif
