/* sysctl.h - the sysctls kernel.perf_* and their like. */
#ifndef RECORD_SYSCTL_H
#define RECORD_SYSCTL_H

#include <stdbool.h>

/* Returns the number in /proc/sys/kernel/NAME, or `missing` if there is none. */
long sysctl_read(const char *name, long missing);
bool sysctl_write(const char *name, long value);

#endif
