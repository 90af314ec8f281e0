/* filter.h - filters batches of records, and clones filters for threads. */
#ifndef PD_MODEL_FILTER_H
#define PD_MODEL_FILTER_H

#include "pd/filter.h"
#include "stream/batch.h"

/* Removes the records from the rest of the batch that pd_filter_keeps() drops. Returns 0, or -1
 * without memory. */
int pd_filter_batch(struct pd_filter *f, struct pd_batch *batch, struct pd_session *s);

#endif
