/* drain.h - write the contents of the ring buffers to the file. */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include "run/recording.h"

enum drain_which {
	DRAIN_WORTHWHILE,	/* buffers with at least --mmap-flush bytes */
	DRAIN_ALL,
};

/* All functions return 0, or -1 and r->file.error. */

/* Drains all buffers; into the backlog while background_runs(). Writes FINISHED_ROUND if much was
 * written since the last one. */
int drain_buffers(struct recording *r, enum drain_which which);
/* Drains overwriting buffers, and AUX areas in snapshot mode (-S). */
int drain_snapshot(struct recording *r);
/* Writes FINISHED_ROUND if anything was written since the last one. Must be called between passes,
 * before a flush. */
int drain_round(struct recording *r);

#endif
