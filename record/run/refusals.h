/* refusals.h - programs that the kernel stopped recording when they were started: they have other
 * rights than what started them, or their file can't be read.
 */
#ifndef RECORD_REFUSALS_H
#define RECORD_REFUSALS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/log.h"

enum { REFUSED_NAME = 64 };		/* /proc/PID/status escapes */

/* Empty if zeroed. */
struct refusals {
	size_t n;
	pid_t last;
	char first[REFUSED_NAME];
};

/* Notes the program of a recorded process, if it is one of these. */
void refusals_look(struct refusals *f, pid_t pid);
/* Warns if there were any. */
void refusals_log(const struct refusals *f, const struct logger *log);

#endif
