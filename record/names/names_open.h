/* names_open.h - opens files for names. The recorder may run as root, over processes of others: it
 * opens regular files only. */
#ifndef RECORD_NAMES_OPEN_H
#define RECORD_NAMES_OPEN_H

#include "pd/symbols.h"

/* For ps_options.open: an ELF file, the running kernel's symbols, notes and vdso, or what a JIT
 * compiler wrote as this user, as root or as the user of its process. Returns a descriptor, or
 * -1. */
int names_open(void *unused, const char *path, enum ps_file_place place);

#endif
