/* event_name.h - the name that perf gives an event of which only the attribute is known. */
#ifndef PD_LAYOUT_EVENT_NAME_H
#define PD_LAYOUT_EVENT_NAME_H

#include <stddef.h>
#include <stdint.h>

/* Of struct perf_event_attr; flags as little-endian machines number them. */
struct pd_event_name_in {
	uint32_t type, bp_type;
	uint64_t config;
	uint64_t config1, config2;	/* bp_addr, bp_len where type is BREAKPOINT */
	uint64_t flags, precise_ip;
	const char *pmu;		/* name of pd_event_pmu_type(), or NULL */
	const char *tracepoint;		/* "sched:sched_switch", or NULL */
};

/* The key of PMU_MAPPINGS that says where the event counts; 0: it has none. */
uint32_t pd_event_pmu_type(const struct pd_event_name_in *in);

/* Writes the name and a NUL, cut to size (at least 1). The length written, less than size. */
size_t pd_event_name(const struct pd_event_name_in *in, char *buf, size_t size);

#endif
