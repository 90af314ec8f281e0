/* list_internal.h - the list under construction. */
#ifndef RECORD_LIST_INTERNAL_H
#define RECORD_LIST_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

struct list {
	FILE *out;
	const char *glob;		/* NULL: all */
	const char *title;		/* of the group at hand */
	bool titled, noted;		/* the title is out; so is some note */
	bool names_only;
	bool whole_group;		/* the glob is the group's keyword */
	size_t n;
};

/* keywords: words that stand for the group in place of a glob, blanks between them. */
void list_group(struct list *l, const char *title, const char *keywords);
bool list_matches(const struct list *l, const char *name);
void list_line(struct list *l, const char *name, const char *what);
/* Why a group is empty. */
void list_note(struct list *l, const char *text);

void list_pmus(struct list *l);
void list_tracepoints(struct list *l);

#endif
