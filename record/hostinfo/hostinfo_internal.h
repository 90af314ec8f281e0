/* hostinfo_internal.h - the features, by where this machine tells of them. 0, or -1 and *e. */
#ifndef RECORD_HOSTINFO_INTERNAL_H
#define RECORD_HOSTINFO_INTERNAL_H

#include "hostinfo/hostinfo.h"
#include "hostinfo/hostinfo_values.h"

/* CPUDESC and CPUID; NRCPUS, CPU_TOPOLOGY, and CACHE through the third. */
int hostinfo_processor(struct pd_writer *w, struct host_values *h, struct pd_error *e);
int hostinfo_topology(struct pd_writer *w, struct host_values *h, const struct hostinfo *info,
		      struct pd_error *e);
/* CACHE, of that many cpus. */
int hostinfo_caches(struct pd_writer *w, struct host_values *h, unsigned int available,
		    struct pd_error *e);
/* TOTAL_MEM, NUMA_TOPOLOGY, MEM_TOPOLOGY. */
int hostinfo_memory(struct pd_writer *w, struct host_values *h, struct pd_error *e);
/* PMU_MAPPINGS, CPU_PMU_CAPS, HYBRID_TOPOLOGY, PMU_CAPS. */
int hostinfo_pmus(struct pd_writer *w, struct host_values *h, struct pd_error *e);
/* TRACING_DATA of the tracepoints. False: there is nothing to tell. */
int hostinfo_tracing(struct pd_writer *w, struct host_values *h, const struct hostinfo *info,
		     struct pd_error *e);

#endif
