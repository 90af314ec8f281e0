/* attr.h - from options and terms to the attributes that are opened. */
#ifndef RECORD_ATTR_H
#define RECORD_ATTR_H

#include "base/options.h"
#include "event/event.h"
#include "target/target.h"

/* Completes every event, and adds the helper that records side-band events where no other can.
 * buffer: bytes of each. 0; or an exit status after saying what is wrong. */
int attrs_configure(struct event_list *l, const struct settings *o, const struct target *t,
		    size_t buffer);
/* Completes events of which only the occurrence is needed: each, or each N-th by a term, wakes the reader. */
int attrs_configure_triggers(struct event_list *l, const struct settings *o, const struct target *t);
/* The kernel is to tell the build id of what is mapped. */
void attrs_add_build_ids(struct event_list *l);

/* Things that several parts must know of the events. */
bool events_have_flag(const struct event_list *l, uint64_t flags);
bool events_have_sample(const struct event_list *l, uint64_t sample_type);

#endif
