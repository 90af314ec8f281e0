/* read_text.h - small files of /proc and /sys, whole. */
#ifndef RECORD_READ_TEXT_H
#define RECORD_READ_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Up to size - 1 bytes of a file and a NUL; the line's end is cut off. Relative to the directory
 * `dir` or AT_FDCWD. How many bytes, or -1. */
ssize_t host_read(int dir, const char *path, char *buf, size_t size);

/* The number that a file begins with; base as of strtoull(). False: no such file, no number. */
bool host_read_number(int dir, const char *path, int base, uint64_t *out);

/* The whole file and a NUL, for free(). NULL: unreadable, or more than limit bytes. */
char *host_read_all(int dir, const char *path, size_t limit, size_t *size);

/* Names in a directory that begin with prefix and go on with a digit, sorted by the number.
 * Returns how many; the numbers are for free(). */
size_t host_numbered(const char *path, const char *prefix, unsigned int **numbers);

/* "0-3,8" as numbers, at most n. Returns how many there are. */
size_t host_parse_cpus(const char *list, unsigned int *cpus, size_t n);
/* Whether the number is among them. */
bool host_list_has(const char *list, unsigned int cpu);

#endif
