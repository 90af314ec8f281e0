/* names_open.h - opens files for names. The recorder may run as root, over processes of others: it
 * opens regular files only. */
#ifndef RECORD_NAMES_OPEN_H
#define RECORD_NAMES_OPEN_H

#include "pd/symbols.h"

/* For ps_options.open, with a struct silent_files: an ELF file, the running kernel's symbols, notes
 * and vdso, or what a JIT compiler wrote as this user, as root or as the user of its process. Does
 * not open the silent files. Returns a descriptor, or -1. */
int names_open(void *silent, const char *path, enum ps_file_place place);

#endif
