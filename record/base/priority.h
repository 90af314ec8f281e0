/* priority.h - when the recorder gets a cpu. */
#ifndef RECORD_PRIORITY_H
#define RECORD_PRIORITY_H

#include "base/log.h"
#include "base/options.h"

/* -r, --exit-with-parent; otherwise: short turns, but at once. Of this process only: do it when the
 * command was forked. */
void priority_set(const struct settings *o, const struct logger *log);
/* None of that for the calling thread: its work can wait. */
void priority_be_ordinary(void);

#endif
