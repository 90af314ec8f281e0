/* prologue.h - what stands in a recording before the first sample, and behind the last. */
#ifndef RECORD_PROLOGUE_H
#define RECORD_PROLOGUE_H

#include "run/recording.h"

/* Header, events and records for what exists already; of what runs background_start() may have yet to
 * write. 0, or -1 and r->file.error. */
int prologue_write(struct recording *r);

/* Counts of what was lost, features, sizes: the writer is finished. 0, or -1 and r->file.error. */
int epilogue_write(struct recording *r, uint64_t *lost);

#endif
