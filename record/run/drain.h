/* drain.h - from the buffers into the file. */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include "run/recording.h"

enum drain_which {
	DRAIN_WORTHWHILE,	/* buffers with at least --mmap-flush bytes */
	DRAIN_ALL,
};

/* One pass over all buffers; into memory while background_runs(). FINISHED_ROUND follows when much was written since the last one.
 * Each: 0, or -1 and r->file.error. */
int drain_buffers(struct recording *r, enum drain_which which);
/* The same for those that overwrite, and for AUX areas that wait to be asked (-S). */
int drain_snapshot(struct recording *r);
/* FINISHED_ROUND, if anything was written since the last: between passes, before a flush. */
int drain_round(struct recording *r);

#endif
