/* priority.h - the recorder's scheduling priority. */
#ifndef RECORD_PRIORITY_H
#define RECORD_PRIORITY_H

#include "base/log.h"
#include "base/options.h"

/* Applies -r and --exit-with-parent; without -r asks for short time slices. Must be called after
 * the command was forked, which must not inherit them. */
void priority_set(const struct settings *o, const struct logger *log);
/* Gives the calling thread the default priority, for work that can wait. */
void priority_reset(void);

#endif
