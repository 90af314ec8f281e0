/* attr.h - build the events' attributes from options and terms. */
#ifndef RECORD_ATTR_H
#define RECORD_ATTR_H

#include "base/options.h"
#include "event/event.h"
#include "target/target.h"

/* Returns whether new tasks of the target inherit events that have no term of their own for it. */
bool attrs_are_inherited(const struct settings *o, const struct target *t);
/* Completes the attributes, and adds a helper event for the side-band records where none of the
 * user's can carry them. buffer: bytes of each ring buffer. Returns 0, or an exit status after
 * logging the error. */
int attrs_configure(struct event_list *l, const struct settings *o, const struct target *t,
		    size_t buffer);
/* Completes events that are not sampled: each occurrence, or each Nth with a term, wakes the
 * reader. */
int attrs_configure_triggers(struct event_list *l, const struct settings *o,
			     const struct target *t);
/* Asks the kernel to record the build ids of mapped files. */
void attrs_add_build_ids(struct event_list *l);

/* Return whether any event has one of the bits. */
bool events_have_flag(const struct event_list *l, uint64_t flags);
bool events_have_sample(const struct event_list *l, uint64_t sample_type);

#endif
