/* filter.h - the filter, asked for many records at once. */
#ifndef PD_MODEL_FILTER_H
#define PD_MODEL_FILTER_H

#include "pd/filter.h"
#include "stream/batch.h"

/* Of the rest of a run only what stays is left in it, as pd_filter_keeps() has it. 0, or -1: no memory. */
int pd_filter_batch(struct pd_filter *f, struct pd_batch *batch, struct pd_session *s);

/* The same filter for another thread, which asks it for other records; valid as long as f is, whose time is not set meanwhile.
 * NULL: no memory, or all records have to be asked for in their order. */
struct pd_filter *pd_filter_clone(const struct pd_filter *f);
/* Records that another filter, a branch of this one, dropped, and samples that it kept. */
void pd_filter_add_counts(struct pd_filter *f, uint64_t dropped, uint64_t samples);

#endif
