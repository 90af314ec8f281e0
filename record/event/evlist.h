/* evlist.h - the recorded events as text, for the control command of that name. */
#ifndef RECORD_EVLIST_H
#define RECORD_EVLIST_H

#include <stdbool.h>

#include "event/event.h"

/* perf's flags: "" names, -F with the period or frequency, -g in groups, -v with the attribute. False: another flag. */
bool evlist_print(const struct event_list *l, const char *flag);

#endif
