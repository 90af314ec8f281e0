/* read_text.h - read small files of /proc and /sys. */
#ifndef RECORD_READ_TEXT_H
#define RECORD_READ_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Stores up to size - 1 bytes of a file and a NUL, without newlines at the end. path is relative to
 * the directory `dir` or AT_FDCWD. Returns the number of bytes, or -1 and errno. */
ssize_t read_text(int dir, const char *path, char *buf, size_t size);

/* Stores the number that a file begins with; base as for strtoull(). False: no such file, or no
 * number. */
bool read_text_number(int dir, const char *path, int base, uint64_t *out);

/* Returns the whole file and a NUL, for the caller to free. NULL: unreadable, or over limit
 * bytes. */
char *read_text_all(int dir, const char *path, size_t limit, size_t *size);

/* Stores the numbers of a directory's entries whose names are prefix and a number, sorted, and sets
 * *n; the caller frees them. Returns 0, or -1 without memory. */
int list_numbered(const char *path, const char *prefix, unsigned int **numbers, size_t *n);

/* Parses "0-3,8" and stores at most n numbers. Returns how many there are. */
size_t parse_cpu_list(const char *list, unsigned int *cpus, size_t n);
/* Whether the list has the number. */
bool cpu_list_has(const char *list, unsigned int cpu);

#endif
