/* explain.h - why the kernel refused, and the least that would mend it. */
#ifndef RECORD_EXPLAIN_H
#define RECORD_EXPLAIN_H

#include <stddef.h>

#include "event.h"
#include "target.h"

void explain_open(const struct event *e, const struct target *t, int error, const struct say *s);
/* bytes: of the buffer; rings: how many are needed. */
void explain_mmap(size_t bytes, size_t rings, int error, const struct say *s);

#endif
