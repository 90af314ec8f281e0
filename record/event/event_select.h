/* event_select.h - the events of the command line, with their filters and cgroups. */
#ifndef RECORD_EVENT_SELECT_H
#define RECORD_EVENT_SELECT_H

#include "base/options.h"
#include "event/event.h"

/* argv: the command line in its order, because a --filter applies to the -e before it.
 * Returns 0, or an exit status after logging the error. */
int events_select(struct event_list *l, const struct settings *o, char *const *argv);

#endif
