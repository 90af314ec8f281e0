/* filter.h - filters batches of records, and clones filters for threads. */
#ifndef PD_MODEL_FILTER_H
#define PD_MODEL_FILTER_H

#include "pd/filter.h"
#include "stream/batch.h"

/* Removes the records from the rest of the batch that pd_filter_keeps() drops. Returns 0, or -1
 * without memory. */
int pd_filter_batch(struct pd_filter *f, struct pd_batch *batch, struct pd_session *s);

/* Clones a filter for another thread and other records; valid as long as f, whose time must not be
 * set meanwhile. Returns NULL without memory, or if all records must be filtered in their order. */
struct pd_filter *pd_filter_clone(const struct pd_filter *f);
/* Adds the counts of a clone. */
void pd_filter_add_counts(struct pd_filter *f, uint64_t dropped, uint64_t samples);

#endif
