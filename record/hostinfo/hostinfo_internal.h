/* hostinfo_internal.h - writers of groups of features. Each returns 0, or -1 and *e. */
#ifndef RECORD_HOSTINFO_INTERNAL_H
#define RECORD_HOSTINFO_INTERNAL_H

#include "hostinfo/hostinfo.h"
#include "hostinfo/hostinfo_values.h"

/* CPUDESC, CPUID. */
int hostinfo_processor(struct pd_writer *w, struct host_values *h, struct pd_error *e);
/* NRCPUS, CPU_TOPOLOGY, CACHE. */
int hostinfo_topology(struct pd_writer *w, struct host_values *h, const struct hostinfo *info,
		      struct pd_error *e);
/* CACHE, for CPUs [0, available). */
int hostinfo_caches(struct pd_writer *w, struct host_values *h, unsigned int available,
		    struct pd_error *e);
/* TOTAL_MEM, NUMA_TOPOLOGY, MEM_TOPOLOGY. */
int hostinfo_memory(struct pd_writer *w, struct host_values *h, struct pd_error *e);
/* PMU_MAPPINGS, CPU_PMU_CAPS, HYBRID_TOPOLOGY, PMU_CAPS. */
int hostinfo_pmus(struct pd_writer *w, struct host_values *h, struct pd_error *e);
/* TRACING_DATA, if there are tracepoints. */
int hostinfo_tracing(struct pd_writer *w, struct host_values *h, const struct hostinfo *info,
		     struct pd_error *e);

#endif
