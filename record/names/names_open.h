/* names_open.h - opens files for names. The recorder may run as root, over processes of others: it
 * opens regular files only. */
#ifndef RECORD_NAMES_OPEN_H
#define RECORD_NAMES_OPEN_H

#include "pd/symbols.h"

/* For ps_options.open, with a struct silent_files: opens what opener_open() does, but for the
 * silent files. Returns a descriptor, or -1. */
int names_open(void *silent, const char *path, enum ps_file_place place);

#endif
