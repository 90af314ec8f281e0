/* synth_cgroups.h - CGROUP records for existing cgroups. */
#ifndef RECORD_SYNTH_CGROUPS_H
#define RECORD_SYNTH_CGROUPS_H

#include "synth/synth.h"

/* Writes a record for each cgroup in the hierarchy of the perf_event controller. Returns 0, or -1
 * and *e. */
int synth_cgroups(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		  struct pd_error *e);

#endif
