/* synth.h - records for what exists before the recording begins: maps of the kernel and modules,
 * BPF programs, cgroups, running tasks; and how ids, cpus, threads and clocks belong together.
 *
 * All go through pd_writer_record() after pd_writer_begin(), in the order perf has:
 * synth_time_conv(), synth_id_index(), synth_existing() (kernel, threads and cpus, BPF, cgroups,
 * tasks), synth_workload(), synth_finished_init(). They return 0, or -1 and *e when writing failed.
 * What /proc refuses or loses meanwhile is left out and is no error.
 */
#ifndef RECORD_SYNTH_H
#define RECORD_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/deadline.h"
#include "bpf/synth_bpf.h"
#include "pd/write.h"

enum synth_what {
	SYNTH_KERNEL = 1 << 0,		/* the kernel's map and its modules': MMAP */
	SYNTH_TASKS = 1 << 1,		/* COMM, and FORK where every task is meant */
	SYNTH_MAPS = 1 << 2,		/* their executable maps: MMAP2 */
	SYNTH_DATA_MAPS = 1 << 3,	/* and the others (-d) */
	SYNTH_BUILD_IDS = 1 << 4,	/* build ids in place of inodes in MMAP2, and for MMAP
					 * of the kernel one (--buildid-mmap) */
	SYNTH_NAMESPACES = 1 << 5,	/* of tasks (--namespaces) */
	SYNTH_CGROUPS = 1 << 6,		/* CGROUP (--all-cgroups) */
	SYNTH_BPF = 1 << 7,		/* KSYMBOL and BPF_EVENT of loaded programs */
	SYNTH_DEFAULT = SYNTH_KERNEL | SYNTH_TASKS | SYNTH_MAPS | SYNTH_BPF,
};

struct synth_options {
	unsigned int what;		/* enum synth_what */
	int event;			/* whose sample_id they get: 0 as in perf; -1: none */
	bool all_tasks;			/* -a, -C: every task of the machine */
	const pid_t *threads;		/* else these: -p's, -t's and -u's, as counters have them */
	size_t nr_threads;		/* 0: no task (a command that is yet to start) */
	pid_t workload;			/* goes to THREAD_MAP where there are no threads; 0: none */
	bool waiting;			/* it is this program still, before its exec */
	const int *cpus;		/* of the counters: CPU_MAP; -1 stands for any */
	size_t nr_cpus;
	unsigned int timeout_ms;	/* for the maps of one process; 0: 500 */
	unsigned int nr_readers;	/* threads that read /proc; 0: as many as pay */
	const struct bpf_progs *bpf;	/* for SYNTH_BPF; may be NULL */
	struct deadline deadline;	/* for all of it */
};

struct synth_report {
	size_t tasks, maps;
	size_t timed_out;		/* processes whose maps took longer than timeout_ms */
	bool kernel_hidden;		/* /proc/kallsyms has no addresses */
	bool cut;			/* the deadline was over before all was described */
};

/* report may be NULL. */
int synth_existing(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		   struct pd_error *e);

/* The command's process, forked and waiting for its exec. */
int synth_workload(struct pd_writer *w, const struct synth_options *o, struct pd_error *e);

/* A counter: its id, the number of its event or buffer, where it counts (-1: any). */
struct synth_id {
	uint64_t id, idx;
	int64_t cpu, tid;
};

int synth_id_index(struct pd_writer *w, const struct synth_id *ids, size_t n, struct pd_error *e);

/* page: the first page of any ring. Nothing where the kernel gives user space no clock. */
struct perf_event_mmap_page;
int synth_time_conv(struct pd_writer *w, const struct perf_event_mmap_page *page,
		    struct pd_error *e);

int synth_finished_init(struct pd_writer *w, struct pd_error *e);

#endif
