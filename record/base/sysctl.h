/* sysctl.h - the sysctls kernel.perf_* and their like. */
#ifndef RECORD_SYSCTL_H
#define RECORD_SYSCTL_H

#include <stdbool.h>

/* Returns the number in /proc/sys/kernel/NAME, or `missing` if there is none. */
long sysctl_read(const char *name, long missing);

/* A sysctl that a recording changes, and what it was before. */
struct sysctl_change {
	const char *name;	/* NULL: none is changed */
	long before;
};

/* Returns false, with errno set, if it can't be set. */
bool sysctl_set(struct sysctl_change *c, const char *name, long value);
/* Sets it to what it was before, once. */
void sysctl_restore(struct sysctl_change *c);

#endif
