/* hostinfo.h - header features that describe the machine and the recording. */
#ifndef RECORD_HOSTINFO_H
#define RECORD_HOSTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/synth_bpf.h"
#include "pd/write.h"

struct hostinfo_group {
	const char *name;		/* NULL: none */
	uint32_t leader, members;	/* index of the first event; number of events */
};

struct hostinfo_tracepoint {
	const char *name;		/* "sched:sched_switch", or a name that the user gave it */
	uint64_t id;			/* attr.config */
};

#define HOSTINFO_AUXTRACE_SIZE 48	/* of an AUXTRACE record, without its data */

struct hostinfo {
	const char *version;		/* "precord 0.1.0" */
	char *const *argv;		/* the whole command line, NULL-terminated */
	const struct hostinfo_group *groups;
	size_t nr_groups;
	const struct hostinfo_tracepoint *tracepoints;	/* their formats go to TRACING_DATA */
	size_t nr_tracepoints;
	unsigned int online_cpus;	/* 0: read from sysfs */
	bool branch_stacks;
	const uint64_t *auxtraces;	/* offsets of AUXTRACE records in the file */
	size_t nr_auxtraces;
	bool use_clockid;
	int clockid;
	/* without use_clockid: the next two are one moment, in ns */
	bool perf_clock_known;
	uint64_t perf_clock, wall_clock;
	bool timed;			/* first and last are valid */
	uint64_t first, last;		/* times of samples, for SAMPLE_TIME */
	int compress;			/* zstd level; 0: none */
	uint32_t compress_ratio;	/* uncompressed bytes per written byte */
	struct bpf_progs *bpf;	/* may be NULL */
};

/* Writes all features that this machine has data for, except BUILD_ID (buildid.h). Must be called
 * before pd_writer_finish(), in a pipe right after pd_writer_begin(). Returns 0; 1: some are left
 * out for lack of memory; -1 and *e. */
int hostinfo_features(struct pd_writer *w, const struct hostinfo *info, struct pd_error *e);

#endif
