/* file_names.c - names of files, one after the other. */
#include "base/file_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MOST = 1 << 16 };

void file_names_add(struct file_names *s, const char *name)
{
	const size_t size = strlen(name) + 1;
	char *more;

	s->n++;
	more = size <= BYTES_MOST - s->size ? realloc(s->names, s->size + size) : NULL;
	if (!more)
		return;
	memcpy(more + s->size, name, size);
	s->names = more;
	s->size += size;
	s->kept++;
}

bool file_names_have(const struct file_names *s, const char *name)
{
	for (size_t at = 0; at < s->size; at += strlen(s->names + at) + 1)
		if (strcmp(s->names + at, name) == 0)
			return true;
	return false;
}

bool file_names_may_have(const struct file_names *s, const char *name)
{
	return s->n > s->kept || file_names_have(s, name);
}

void file_names_log_silent(const struct file_names *silent, const struct logger *log,
			   const char *what)
{
	char more[48] = "";

	if (!silent->n || !silent->names)
		return;
	if (silent->n > 1)
		snprintf(more, sizeof(more), " (and those of %zu others)", silent->n - 1);
	log_at(log, LOG_WARNING, "%s '%s'%s is left out: its file system did not answer", what,
	       silent->names, more);
}

void file_names_free(struct file_names *s)
{
	free(s->names);
	*s = (struct file_names){ 0 };
}
