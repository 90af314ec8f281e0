/* report.h - --flamegraph and --top: record, then show the recording with preport. */
#ifndef RECORD_REPORT_H
#define RECORD_REPORT_H

#include "base/log.h"
#include "base/options.h"
#include "target/child.h"

/* Checks the options of a report, and adds what it needs, such as call chains. `command`: the first
 * word of what is recorded, or NULL. Returns 0, or an exit status after logging the error. */
int report_prepare(struct settings *o, const char *command, const struct logger *log);

/* Runs the preport that stands beside this program, else that of PATH, on the recording. Returns 0,
 * or its exit status; 4 after logging that it could not be started. */
int report_run(const struct settings *o, const char *recording,
	       const struct child_signals *signals, const struct logger *log);

#endif
