/* preport_run.h - a report of one recording, and how its samples are read. */
#ifndef PD_TOOLS_PREPORT_RUN_H
#define PD_TOOLS_PREPORT_RUN_H

#include <sys/ioctl.h>

#include "files/input.h"
#include "files/input_errors.h"
#include "files/output.h"
#include "pd/profile.h"
#include "preport/preport_choices.h"
#include "process/progress.h"
#include "recording/filter.h"
#include "recording/symbols.h"

struct run {
	struct choices choices;
	struct input in;
	struct output out;
	struct pd_filter *filter;
	struct filter_part part;
	struct symbol_filter *symbol_filter;
	struct pd_history *history;
	struct pd_index *index;		/* where threads begin to read; NULL: there is one */
	struct symbols symbols;
	struct pp_profile *profile;
	bool is_paged;		/* standard output is a pager on a terminal */
	struct winsize window;	/* of the terminal; 0: there is none */
	struct input_errors errors;
	struct progress progress;
	uint64_t read;		/* bytes of the input, for progress */
	struct run *base;	/* of --base; NULL: none */
};

/* Prints an error that ends the report. Returns the exit status. */
enum cli_exit run_print_error(struct run *run, const struct pd_error *e);

/* Returns whether the output goes to a terminal, perhaps through a pager. */
bool run_is_for_terminal(const struct run *run);

unsigned int run_thread_count(const struct run *run);

/* Makes run->filter of the options, but not of --event: the profile chooses the events. */
enum cli_exit run_make_filter(struct run *run);

/* Learns the history, and adds the samples to run->profile. */
enum cli_exit run_read_samples(struct run *run);

#endif
