/* evlist.h - print the recorded events, for the control command of that name. */
#ifndef RECORD_EVLIST_H
#define RECORD_EVLIST_H

#include <stdbool.h>

#include "event/event.h"

/* flag, as in perf: "" for names, -F adds the period or frequency, -g prints groups, -v the whole
 * attribute. False: unknown flag. */
bool evlist_print(const struct event_list *l, const char *flag);

#endif
