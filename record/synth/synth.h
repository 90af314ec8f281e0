/* synth.h - synthesize records for what exists before the recording begins: maps of the kernel and
 * of modules, BPF programs, cgroups, tasks; and records that relate ids, CPUs, threads and clocks.
 *
 * Must be called after pd_writer_begin(), in perf's order: synth_time_conv(), synth_id_index(),
 * synth_existing() (kernel, threads and CPUs, BPF, cgroups, tasks), synth_workload(),
 * synth_finished_init(). Each returns 0, or -1 and *e if writing failed. Facts that can't be
 * read, and tasks that have ended, are left out without an error.
 */
#ifndef RECORD_SYNTH_H
#define RECORD_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/deadline.h"
#include "base/file_names.h"
#include "bpf/synth_bpf.h"
#include "pd/write.h"

enum synth_what {
	SYNTH_KERNEL = 1 << 0,		/* maps of the kernel and of modules: MMAP */
	SYNTH_TASKS = 1 << 1,		/* COMM, and FORK if all tasks are recorded */
	SYNTH_MAPS = 1 << 2,		/* executable maps of tasks: MMAP2 */
	SYNTH_DATA_MAPS = 1 << 3,	/* other readable maps, too (-d) */
	SYNTH_BUILD_IDS = 1 << 4,	/* MMAP2 with build ids instead of inodes, for the kernel
					 * instead of MMAP (--buildid-mmap) */
	SYNTH_NAMESPACES = 1 << 5,	/* of tasks (--namespaces) */
	SYNTH_CGROUPS = 1 << 6,		/* CGROUP (--all-cgroups) */
	SYNTH_BPF = 1 << 7,		/* KSYMBOL and BPF_EVENT of loaded programs */
	SYNTH_DEFAULT = SYNTH_KERNEL | SYNTH_TASKS | SYNTH_MAPS | SYNTH_BPF,
};

struct synth_options {
	unsigned int what;		/* enum synth_what */
	int event;			/* whose sample_id is appended; perf: 0; -1: none */
	bool all_tasks;			/* -a, -C: every task of the machine */
	const pid_t *threads;		/* else those of -p, -t, -u */
	size_t nr_threads;		/* 0: no task (a command that has not started) */
	pid_t workload;			/* for THREAD_MAP if there are no threads; 0: none */
	bool waiting;			/* the command has not called exec yet */
	const int *cpus;		/* of the counters, for CPU_MAP; -1: any */
	size_t nr_cpus;
	unsigned int timeout_ms;	/* limit for the maps of a process; 0: 500 */
	unsigned int nr_readers;	/* threads that read /proc; 0: by the number of processes */
	const struct bpf_progs *bpf;	/* for SYNTH_BPF; may be NULL */
	struct deadline deadline;	/* limit for all of synth_existing() */
};

struct synth_report {
	size_t tasks, maps;
	size_t timed_out;		/* processes whose maps took longer than timeout_ms */
	bool kernel_hidden;		/* /proc/kallsyms has no addresses */
	bool cut;			/* the deadline passed: records are missing */
	bool lacks_memory;		/* some are missing for lack of it */
	struct file_names silent;	/* without build ids; the caller's to free */
};

int synth_existing(struct pd_writer *w, const struct synth_options *o, struct synth_report *report,
		   struct pd_error *e);

/* Writes records for the command's process, which may still wait for its exec. */
int synth_workload(struct pd_writer *w, const struct synth_options *o, struct pd_error *e);

/* An entry of ID_INDEX: the id of a counter, the index of its buffer, its CPU and thread (-1:
 * any). */
struct synth_id {
	uint64_t id, idx;
	int64_t cpu, tid;
};

int synth_id_index(struct pd_writer *w, const struct synth_id *ids, size_t n, struct pd_error *e);

/* page: the first page of any ring. Writes nothing if the kernel does not let user space read the
 * clock. */
struct perf_event_mmap_page;
int synth_time_conv(struct pd_writer *w, const struct perf_event_mmap_page *page,
		    struct pd_error *e);

int synth_finished_init(struct pd_writer *w, struct pd_error *e);

#endif
