/* list_internal.h - the list while it is printed. */
#ifndef RECORD_LIST_INTERNAL_H
#define RECORD_LIST_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

struct list {
	FILE *out;
	const char *glob;		/* NULL: all */
	const char *title;		/* of the current group */
	bool titled;			/* the title was printed */
	bool noted;			/* some note was printed */
	bool names_only;
	bool whole_group;		/* the glob is the group's keyword */
	size_t n;
};

/* Begins a group; its title is printed with its first line. keywords: words with blanks between; a
 * glob that equals one of them selects the whole group. */
void list_begin_group(struct list *l, const char *title, const char *keywords);
bool list_matches(const struct list *l, const char *name);
void list_line(struct list *l, const char *name, const char *what);
/* Prints why a group is empty. */
void list_note(struct list *l, const char *text);

void list_pmus(struct list *l);
void list_tracepoints(struct list *l);

#endif
