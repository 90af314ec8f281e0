/* list.h - precord --list: the events of this machine. */
#ifndef RECORD_LIST_H
#define RECORD_LIST_H

#include <stdio.h>

enum list_style {
	LIST_GROUPED,		/* with headings and explanations */
	LIST_NAMES,		/* nothing but names that -e takes */
};

/* Prints one event a line, only those that glob matches ("": all). Returns how many. */
size_t list_events(FILE *out, const char *glob, enum list_style style);

#endif
