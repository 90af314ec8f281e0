/* synth_cgroups.h - CGROUP records of the cgroups that exist. */
#ifndef RECORD_SYNTH_CGROUPS_H
#define RECORD_SYNTH_CGROUPS_H

#include "synth/synth.h"

/* Those of the hierarchy that the perf_event controller sits on. */
int synth_cgroups(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		  struct pd_error *e);

#endif
