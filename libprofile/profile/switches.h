/* switches.h - context switches in a recording: SWITCH records and sched:sched_switch. */
#ifndef PP_SWITCHES_H
#define PP_SWITCHES_H

#include "profile/profile_internal.h"

/* linux/perf_event.h */
enum { MISC_SWITCH_OUT = 1 << 13, MISC_SWITCH_OUT_PREEMPT = 1 << 14 };

/* Both return PD_OK or PD_E_LIMIT. */

/* A sample of sched:sched_switch, whose stack was noted: one thread leaves, the next enters. The
 * recording must have the format of the tracepoint, else nothing happens. */
enum pd_code pp_switch_by_sample(struct pp_profile *p, struct pd_reader *r,
				 const struct pd_fields *sample, enum pp_use use);
/* A SWITCH or SWITCH_CPU_WIDE. */
enum pd_code pp_switch_by_record(struct pp_profile *p, struct pd_reader *r,
				 const struct pd_fields *item, enum pp_use use);

#endif
