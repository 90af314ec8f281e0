/* list.h - precord --list: the events of this machine. */
#ifndef RECORD_LIST_H
#define RECORD_LIST_H

#include <stdio.h>

/* One event a line, grouped; only those that glob matches (NULL: all). Returns how many. */
size_t list_events(FILE *out, const char *glob);

#endif
