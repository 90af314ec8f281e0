/* list.h - precord --list: list the events of this machine. */
#ifndef RECORD_LIST_H
#define RECORD_LIST_H

#include <stdio.h>

enum list_style {
	LIST_GROUPED,		/* with headings and explanations */
	LIST_NAMES,		/* only names that -e accepts */
};

/* Prints the events that glob matches ("": all), one per line. Returns how many. */
size_t list_events(FILE *out, const char *glob, enum list_style style);

#endif
