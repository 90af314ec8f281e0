/* synth_tasks.h - COMM, FORK, NAMESPACES and MMAP2 records for existing tasks. */
#ifndef RECORD_SYNTH_TASKS_H
#define RECORD_SYNTH_TASKS_H

#include "synth/synth.h"

int synth_tasks(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		struct pd_error *e);

#endif
