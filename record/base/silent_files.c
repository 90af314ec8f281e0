/* silent_files.c - the names of files that do not answer, one after the other. */
#include "base/silent_files.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MOST = 1 << 16 };

void silent_files_add(struct silent_files *s, const char *name)
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
}

bool silent_files_have(const struct silent_files *s, const char *name)
{
	for (size_t at = 0; at < s->size; at += strlen(s->names + at) + 1)
		if (strcmp(s->names + at, name) == 0)
			return true;
	return false;
}

void silent_files_free(struct silent_files *s)
{
	free(s->names);
	*s = (struct silent_files){ 0 };
}
