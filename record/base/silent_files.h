/* silent_files.h - the files that could not be read because their file system did not answer. */
#ifndef RECORD_SILENT_FILES_H
#define RECORD_SILENT_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct silent_files {
	size_t n;
	char *names;			/* as many as are kept, each with its NUL */
	size_t size;			/* of the names */
};

void silent_files_add(struct silent_files *s, const char *name);
bool silent_files_have(const struct silent_files *s, const char *name);
void silent_files_free(struct silent_files *s);

#endif
