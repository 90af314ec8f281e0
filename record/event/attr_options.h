/* attr_options.h - the options for samples, parsed once for all events. */
#ifndef RECORD_ATTR_OPTIONS_H
#define RECORD_ATTR_OPTIONS_H

#include "base/options.h"
#include "event/event.h"

struct attr_options {
	const struct settings *o;
	uint64_t freq, period;		/* one of them is 0 */
	bool rate_given;		/* by -F or -c: overrides the default of tracepoints */
	enum rate_demand rate;
	uint64_t sample_type;		/* of all events that sample */
	uint64_t branch_sample_type, regs_user, regs_intr;
	uint64_t tracking_flags;	/* of the event that carries the side-band records */
	enum callchain_mode callchain;
	uint32_t stack_size, aux_sample_size;
	uint16_t max_stack;
	bool use_clockid;
	int clockid;
};

/* Returns 0, or an exit status after logging the error. */
int attr_options_read(struct attr_options *a, const struct settings *o, const struct logger *log);

#endif
