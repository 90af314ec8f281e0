/* explain.h - log why the kernel refused an event, and the smallest remedy. */
#ifndef RECORD_EXPLAIN_H
#define RECORD_EXPLAIN_H

#include <stddef.h>

#include "event/event.h"
#include "target/target.h"

void explain_open(const struct event *e, const struct target *t, int error,
		  const struct logger *log);
/* Logs why tracefs, and thus the tracepoint, can't be read. */
void explain_tracefs(const char *tracepoint, int error, const struct logger *log);
/* Logs why no event of this machine matches, and returns the exit status. */
int explain_empty_list(const char *glob, const struct logger *log);
/* Stores the command that lets this user record tracepoints. */
void explain_tracefs_remedy(char *text, size_t size);
/* bytes: size of each buffer; rings: number of buffers needed. */
void explain_mmap(size_t bytes, size_t rings, int error, const struct logger *log);

#endif
