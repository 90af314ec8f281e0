/* print_attr.h - --print-attr: the events as pdecode would show them in a recording. */
#ifndef RECORD_PRINT_ATTR_H
#define RECORD_PRINT_ATTR_H

#include "event/event.h"

/* 0; or an exit status after saying what is wrong. */
int print_attrs(const struct event_list *l);

#endif
