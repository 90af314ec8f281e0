/* print_attr.h - --print-attr: print the events as pdecode would show them in a recording. */
#ifndef RECORD_PRINT_ATTR_H
#define RECORD_PRINT_ATTR_H

#include "event/event.h"

/* Returns 0, or an exit status after logging the error. */
int print_attrs(const struct event_list *l);

#endif
