/* filter.h - the filters of pdecode, from command line to library. */
#ifndef PD_TOOLS_PDECODE_FILTER_H
#define PD_TOOLS_PDECODE_FILTER_H

#include "cli/cli.h"
#include "pd/pd.h"
#include "recording/symbol_filter.h"

/* The options as given: each list may be repeated and contain commas. */
struct filter_settings {
	struct cli_list types, pids, tids, cpus, comms, events;
	const char *time;	/* NULL: any */
	struct symbol_filter_settings places;
};

/* A part of the recording's time. */
struct filter_part {
	double from, to;	/* 0 to 1; both 0: not given */
};

/* Sets *filter, or NULL if there are no filters, and *part for filter_set_part(). Returns CLI_USAGE
 * after a message on bad usage. */
enum cli_exit filter_make(const struct cli_tool *tool, const struct filter_settings *s,
			  struct pd_filter **filter, struct filter_part *part);

/* Converts the part to times of the open file. Returns CLI_OK, or CLI_USAGE after a message. */
enum cli_exit filter_set_part(const struct cli_tool *tool, struct pd_filter *filter,
			      struct filter_part part, struct pd_reader *reader);

/* Returns whether --event is absent or a pattern of it matches an event of this name. */
bool filter_wants_event(const struct filter_settings *s, const char *name);

/* Reports requested events that do not exist, and the names that do. To be called at the end of the
 * input: a pipe may define events anywhere. */
void filter_report_unknown_events(const struct cli_tool *tool, const struct filter_settings *s,
				  const struct pd_reader *reader);

/* Reports if no sample matches the requested threads and CPUs. To be called at the end of the
 * input. */
void filter_report_no_match(const struct cli_tool *tool, const struct filter_settings *s,
			    const struct pd_filter *filter);

void filter_settings_free(struct filter_settings *s);

#endif
