/* parts.h - a recording in parts, which threads can read at once. */
#ifndef PQ_PARTS_H
#define PQ_PARTS_H

#include "recording.h"

enum { PQ_MOST_PARTS = 16 };

/* Divides a recording for a scan, so that the rows of all parts one after the other are those of
 * the scan. Returns how many parts there are: 1 if more are not allowed, not possible or do not
 * pay. */
size_t pq_parts_divide(const struct pq_recording *r, const struct pq_scan *scan,
		       struct pq_part parts[PQ_MOST_PARTS]);

#endif
