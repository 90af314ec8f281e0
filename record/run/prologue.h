/* prologue.h - the parts of a recording before the first sample and after the last. */
#ifndef RECORD_PROLOGUE_H
#define RECORD_PROLOGUE_H

#include "run/recording.h"

/* Writes the header, the events and records for existing tasks and maps, or leaves the latter to
 * background_start(). Returns 0, or -1 and r->file.error. */
int prologue_write(struct recording *r);

/* Writes counts of lost samples and the features, and finishes the writer. Returns 0, or -1 and
 * r->file.error. */
int epilogue_write(struct recording *r, uint64_t *lost);

#endif
