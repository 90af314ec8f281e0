/* event_name.h - the name that perf gives to an event, from its attr. */
#ifndef PD_LAYOUT_EVENT_NAME_H
#define PD_LAYOUT_EVENT_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Members of struct perf_event_attr; flags numbered as on little-endian machines. */
struct pd_event_name_in {
	uint32_t type, bp_type;
	uint64_t config;
	uint64_t config1, config2;	/* bp_addr, bp_len if type is BREAKPOINT */
	uint64_t flags, precise_ip;
	const char *pmu;		/* name of pd_event_pmu_type(), or NULL */
	const char *tracepoint;		/* "sched:sched_switch", or NULL */
};

/* Returns the key of the event's PMU in PMU_MAPPINGS, or 0. */
uint32_t pd_event_pmu_type(const struct pd_event_name_in *in);

/* Writes the name, truncated to size (at least 1) and NUL-terminated. Returns its length, less than
 * size. */
size_t pd_event_name(const struct pd_event_name_in *in, char *buf, size_t size);

#endif
