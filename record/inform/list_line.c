/* list_line.c - the lines of --list. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "inform/list_internal.h"

bool list_matches(const struct list *l, const char *name)
{
	if (!l->glob || l->whole_group)
		return true;
	if (strpbrk(l->glob, "*?["))
		return fnmatch(l->glob, name, 0) == 0;
	return strcasestr(name, l->glob) != NULL;
}

void list_begin_group(struct list *l, const char *title, const char *keywords)
{
	const char *at = l->glob ? strcasestr(keywords, l->glob) : NULL;
	size_t size = l->glob ? strlen(l->glob) : 0;

	/* The glob must be a whole word of the keywords. */
	l->whole_group = at && (at == keywords || at[-1] == ' ') && (at[size] == ' ' || !at[size]);
	l->title = title;
	l->titled = false;
}

void list_note(struct list *l, const char *text)
{
	if ((l->glob && !l->whole_group) || l->names_only)
		return;
	fprintf(l->out, "%s%s: %s\n", l->n || l->noted ? "\n" : "", l->title, text);
	l->noted = true;
}

void list_line(struct list *l, const char *name, const char *what)
{
	if (!list_matches(l, name))
		return;
	if (!l->titled && !l->names_only)
		fprintf(l->out, "%s%s:\n", l->n || l->noted ? "\n" : "", l->title);
	l->titled = true;
	l->n++;
	if (l->names_only)
		fprintf(l->out, "%s\n", name);
	else if (what)
		fprintf(l->out, "  %-40s %s\n", name, what);
	else
		fprintf(l->out, "  %s\n", name);
}
