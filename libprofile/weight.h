/* weight.h - the events of a recording, and what a sample of each weighs. */
#ifndef PP_WEIGHT_H
#define PP_WEIGHT_H

#include "pd/profile.h"

struct pp_weigher {
	char name[512];
	uint64_t period, frequency;	/* of the attribute; one of them is 0 */
	bool is_time, is_tracepoint, has_no_weight;
};

/* Sets *w to how samples of an event are weighed. */
void pp_weigher_init(struct pp_weigher *w, const struct pd_reader *r, const struct pd_attr *a);

/* Returns the weight of a sample: its period; the event's, if samples have none. The frequency is
 * no period, so that of a sample without one is 1. */
uint64_t pp_weigh(const struct pp_weigher *w, const struct pd_fields *sample);

#endif
