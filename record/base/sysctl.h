/* sysctl.h - the kernel's knobs for performance events. */
#ifndef RECORD_SYSCTL_H
#define RECORD_SYSCTL_H

#include <stdbool.h>

/* The number in /proc/sys/kernel/NAME; `missing` where there is none. */
long sysctl_read(const char *name, long missing);
bool sysctl_write(const char *name, long value);

#endif
