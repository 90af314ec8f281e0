/* names_open.h - opens files for names. The recorder may run as root, over processes of others: it
 * opens regular files only. */
#ifndef RECORD_NAMES_OPEN_H
#define RECORD_NAMES_OPEN_H

#include "base/file_names.h"
#include "recording/opener.h"
#include "pd/symbols.h"

struct names_files {
	struct opener opener;
	const struct file_names *silent;	/* are not opened */
	const struct file_names *replaced;	/* nor are these */
};

/* For ps_options.open, with a struct names_files: opens what opener_open() does, but for the silent
 * and the replaced files. Returns a descriptor, or -1. */
int names_open(void *names, const char *path, enum ps_file_place place);
/* The same for ps_options.open_first. */
int names_open_first(void *names, const struct ps_candidate *files, size_t n, size_t *which);

#endif
