/* hostinfo_internal.h - the features, by where this machine tells of them. 0, or -1 and *e. */
#ifndef RECORD_HOSTINFO_INTERNAL_H
#define RECORD_HOSTINFO_INTERNAL_H

#include "hostinfo/hostinfo.h"
#include "hostinfo/hostinfo_values.h"

/* Bits of the header's features (perf's util/header.h). */
enum host_feature_id {
	HOST_TRACING_DATA = 1, HOST_BUILD_ID, HOST_HOSTNAME, HOST_OSRELEASE, HOST_VERSION,
	HOST_ARCH, HOST_NRCPUS, HOST_CPUDESC, HOST_CPUID, HOST_TOTAL_MEM, HOST_CMDLINE,
	HOST_EVENT_DESC, HOST_CPU_TOPOLOGY, HOST_NUMA_TOPOLOGY, HOST_BRANCH_STACK,
	HOST_PMU_MAPPINGS, HOST_GROUP_DESC,
	HOST_AUXTRACE, HOST_STAT, HOST_CACHE, HOST_SAMPLE_TIME, HOST_MEM_TOPOLOGY, HOST_CLOCKID,
	HOST_DIR_FORMAT, HOST_BPF_PROG_INFO, HOST_BPF_BTF, HOST_COMPRESSED, HOST_CPU_PMU_CAPS,
	HOST_CLOCK_DATA, HOST_HYBRID_TOPOLOGY, HOST_PMU_CAPS,
};

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
