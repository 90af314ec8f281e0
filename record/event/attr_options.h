/* attr_options.h - the options that say what is sampled, read once for all events. */
#ifndef RECORD_ATTR_OPTIONS_H
#define RECORD_ATTR_OPTIONS_H

#include "base/options.h"
#include "event/event.h"

struct attr_options {
	const struct settings *o;
	uint64_t freq, period;		/* one of them is 0 */
	uint32_t clock_freq;		/* at most, where a clock takes the place of a counter */
	bool rate_given;		/* it stands above the default of tracepoints */
	uint64_t sample_type;		/* of every event that samples */
	uint64_t branch_sample_type, regs_user, regs_intr;
	uint64_t tracking_flags;	/* of the event with the side-band records */
	enum callchain_mode callchain;
	uint32_t stack_size, aux_sample_size;
	uint16_t max_stack;
	bool use_clockid;
	int clockid;
};

/* 0; or an exit status after saying what is wrong. */
int attr_options_read(struct attr_options *a, const struct settings *o, const struct logger *log);

#endif
