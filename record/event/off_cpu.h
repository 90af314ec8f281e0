/* off_cpu.h - --off-cpu: the event that shows where threads wait. */
#ifndef RECORD_OFF_CPU_H
#define RECORD_OFF_CPU_H

#include "event/event.h"

/* Adds the default event: a clock, as time on and off the CPU can only be added up in its unit.
 * Returns 0, or an exit status after logging the error. */
int off_cpu_add_clock(struct event_list *l);

/* Adds sched:sched_switch if the kernel lets this user record it, and logs which records the times
 * will come from. Returns 0, or an exit status after logging the error. */
int off_cpu_add(struct event_list *l);

#endif
