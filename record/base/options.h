/* options.h - the command line of precord. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

#define NOT_GIVEN UINT64_MAX

/* Options as given: strings point into argv, NULL where an option is absent. */
struct settings {
	/* events */
	struct cli_list events, filters, cgroups;
	bool group, exclude_self;
	/* how often */
	const char *freq;
	uint64_t period;		/* or NOT_GIVEN */
	bool strict_freq, samples;
	/* targets */
	struct cli_list pids, tids;
	const char *cpus, *uid;
	bool all_cpus, per_thread, inherit, inherit_thread, exit_with_parent;
	/* fields of samples */
	bool callgraph, no_callgraph;
	bool data, phys_data, data_page_size, code_page_size, weight, raw, branch_any;
	bool transaction, timestamp, period_field, sample_cpu, identifier, running_time;
	bool kernel_callchains, user_callchains, all_user, all_kernel, stat;
	const char *callgraph_mode, *user_regs, *intr_regs, *aux_sample, *max_stack;
	struct cli_list branches;
	const char *clock;
	/* side-band */
	bool switch_events, namespaces, all_cgroups, bpf_event, ksymbol, text_poke, buildid_mmap;
	bool remove_on_exec;
	/* buffers */
	const char *mmap_pages, *threads;
	uint64_t mmap_flush;
	bool buffering, overwrite;
	const char *snapshot;
	/* the recording */
	const char *delay, *duration, *control;
	uint64_t realtime;		/* or NOT_GIVEN */
	uint64_t cpu_percent;		/* or NOT_GIVEN */
	/* output */
	const char *output, *max_size, *switch_output, *compress, *synth;
	struct cli_list rotate_triggers;
	uint64_t switch_max_files;
	const char *aio, *affinity;	/* no effect */
	const char *flamegraph;
	bool top, off_cpu;
	bool kcore, timestamp_filename, timestamp_boundary, tail_synth;
	bool buildid, buildid_all, no_buildid_cache;
	unsigned int symbols;		/* --symbols: index of its word */
	const char *symbols_file;
	uint64_t map_timeout, synth_threads;
	/* precord itself */
	bool quiet, verbose, strict_loss, dry_run, print_attr, doctor, clean;
	const char *list, *list_names;
};

enum { SYMBOLS_AUTO, SYMBOLS_NAMES, SYMBOLS_LINES, SYMBOLS_OFF };
extern const char *const settings_symbols[];

extern const struct settings settings_default;
extern const struct cli_tool record_tool;

#endif
