/* sink.h - the struct of a sink, for the library's own sinks. */
#ifndef PD_SINK_H
#define PD_SINK_H

#include "pd/pd.h"

/* Lets the sink read the next records itself, as far as that is faster than one by one. */
typedef int (*pd_sink_batch_fn)(void *state, struct pd_reader *r);

struct pd_sink {
	struct pd_sink_ops ops;
	pd_sink_batch_fn batch;		/* may be NULL */
	void *state;
};

/* The same as pd_sink_new(), for sinks that use the inside of a reader. */
struct pd_sink *pd_sink_new_batched(const struct pd_sink_ops *ops, pd_sink_batch_fn batch,
				    void *state);

#endif
