/* file_names.h - a list of names of files. */
#ifndef RECORD_FILE_NAMES_H
#define RECORD_FILE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"

struct file_names {
	size_t n, kept;
	char *names;			/* those that are kept, each with its NUL */
	size_t size;			/* of the names */
};

void file_names_add(struct file_names *s, const char *name);
bool file_names_have(const struct file_names *s, const char *name);
/* The same; true also if it may be one of those that are not kept. */
bool file_names_may_have(const struct file_names *s, const char *name);
/* Warns that `what` of files is left out, as their file systems did not answer. */
void file_names_log_silent(const struct file_names *silent, const struct logger *log,
			   const char *what);
void file_names_free(struct file_names *s);

#endif
