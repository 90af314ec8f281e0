/* event_select.h - the events of a command line, with their filters and cgroups. */
#ifndef RECORD_EVENT_SELECT_H
#define RECORD_EVENT_SELECT_H

#include "base/options.h"
#include "event/event.h"

/* argv: the command line in its order, as --filter and -G belong to the -e before them.
 * 0; or an exit status after saying what is wrong. */
int events_select(struct event_list *l, const struct settings *o, char *const *argv);

#endif
