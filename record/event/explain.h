/* explain.h - why the kernel refused, and the least that would mend it. */
#ifndef RECORD_EXPLAIN_H
#define RECORD_EXPLAIN_H

#include <stddef.h>

#include "event/event.h"
#include "target/target.h"

void explain_open(const struct event *e, const struct target *t, int error, const struct logger *log);
/* Why tracefs, and so the tracepoint that the user wrote, can't be reached. */
void explain_tracefs(const char *tracepoint, int error, const struct logger *log);
/* Why no event of this machine matches; returns the exit status. */
int explain_empty_list(const char *glob, const struct logger *log);
/* Stores the command that lets this user record tracepoints. */
void explain_tracefs_remedy(char *text, size_t size);
/* bytes: of the buffer; rings: how many are needed. */
void explain_mmap(size_t bytes, size_t rings, int error, const struct logger *log);

#endif
