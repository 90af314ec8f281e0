/* hostinfo.h - the feature sections: what this machine and this recording are. */
#ifndef RECORD_HOSTINFO_H
#define RECORD_HOSTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/synth_bpf.h"
#include "pd/write.h"

struct hostinfo_group {
	const char *name;		/* NULL: it has none */
	uint32_t leader, members;	/* index of the first event, how many */
};

struct hostinfo_tracepoint {
	const char *name;		/* "sched:sched_switch", or another if it was renamed */
	uint64_t id;			/* attr.config */
};

#define HOSTINFO_AUXTRACE_SIZE 48	/* of the record AUXTRACE, without its data */

struct hostinfo {
	const char *version;		/* "precord 0.1.0" */
	char *const *argv;		/* the whole command line, ended by NULL */
	const struct hostinfo_group *groups;
	size_t nr_groups;
	const struct hostinfo_tracepoint *tracepoints;	/* their formats go to TRACING_DATA */
	size_t nr_tracepoints;
	unsigned int online_cpus;	/* 0: to be read */
	bool branch_stacks;
	const uint64_t *auxtraces;	/* where AUXTRACE records lie in the file */
	size_t nr_auxtraces;
	bool use_clockid;
	int clockid;
	bool timed;			/* first and last hold */
	uint64_t first, last;		/* of the samples, for SAMPLE_TIME */
	int compress;			/* zstd level; 0: none */
	uint32_t compress_ratio;	/* bytes compressed for each written */
	const struct bpf_progs *bpf;	/* may be NULL */
};

/* Every feature that this machine can fill but BUILD_ID (buildid.h). In a file any time before
 * pd_writer_finish(), in a pipe right after pd_writer_begin(). 0, or -1 and *e. */
int hostinfo_features(struct pd_writer *w, const struct hostinfo *info, struct pd_error *e);

#endif
