/* filter.h - the filter, asked for many records at once. */
#ifndef PD_MODEL_FILTER_H
#define PD_MODEL_FILTER_H

#include "file/run.h"
#include "pd/filter.h"

/* Of the rest of a run only what stays is left in it, as pd_filter_keeps() has it. 0, or -1: no memory. */
int pd_filter_run(struct pd_filter *f, struct pd_run *run, struct pd_session *s);

#endif
