/* readers.h - --threads: each group of cpus has a thread that reads its buffers into a file of its
 * own, data.N of the directory. Everything else stays the main thread's. */
#ifndef RECORD_READERS_H
#define RECORD_READERS_H

#include "run/recording.h"

/* The groups, and what can't be had with them. 0; or an exit status after saying what is wrong. */
int readers_choose(struct recording *r);

/* Before the counters are enabled. 0; or an exit status after saying what is wrong. */
int readers_start(struct recording *r);
/* Can be read once one of them failed. */
int readers_alarm(const struct readers *t);
/* Bytes written so far; NULL: none. */
uint64_t readers_size(const struct readers *t);
/* They take what is left, and end. Behind the counters' end; nothing is done where none run. 0, or
 * -1 and r->file.error. */
int readers_stop(struct recording *r);

#endif
