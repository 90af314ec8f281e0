/* sink.h - what a sink is inside. */
#ifndef PD_SINK_H
#define PD_SINK_H

#include "pd/pd.h"

#define PD_TYPE_HEADER_TRACING_DATA 66
#define PD_TYPE_HEADER_FEATURE 80
#define PD_FEATURE_TRACING_DATA 1

struct pd_sink {
	struct pd_sink_ops ops;
	void *state;
};

#endif
