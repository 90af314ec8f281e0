/* event_name.h - the name that perf gives an event of which only the attribute is known. */
#ifndef PD_LAYOUT_EVENT_NAME_H
#define PD_LAYOUT_EVENT_NAME_H

#include <stddef.h>
#include <stdint.h>

struct pd_event_name_in {
	uint32_t type;
	uint32_t bp_type;
	uint64_t config;
	uint64_t config1, config2;	/* bp_addr, bp_len where type is BREAKPOINT */
	uint64_t flags;			/* of the attribute, as little-endian machines number them (with precise_ip) */
	uint64_t precise_ip;
	const char *pmu;		/* name of the PMU (PMU_MAPPINGS) of type, or of config's upper half; or NULL */
	const char *tracepoint;		/* "sched:sched_switch"; or NULL */
};

/* Like snprintf(): the length of the whole name, cut to size with its NUL. Never 0. */
size_t pd_event_name(const struct pd_event_name_in *in, char *buf, size_t size);

#endif
