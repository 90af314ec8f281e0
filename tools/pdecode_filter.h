/* pdecode_filter.h - the filters of pdecode, from what the user writes to what the library takes. */
#ifndef PD_TOOLS_PDECODE_FILTER_H
#define PD_TOOLS_PDECODE_FILTER_H

#include "cli.h"
#include "pd/pd.h"

/* As given: lists may come many times, each with commas. */
struct filter_settings {
	struct cli_list types, pids, tids, cpus, comms, events;
	const char *time;	/* NULL: any */
};

/* Part of the recording's time. */
struct filter_part {
	double from, to;	/* 0 to 1; both 0: not asked for */
};

/* NULL in *filter when nothing is to be filtered. A part of the time waits for filter_set_part(). On bad usage says
 * what is wrong and returns CLI_USAGE. */
enum cli_exit filter_make(const struct cli_tool *tool, const struct filter_settings *s, struct pd_filter **filter,
			  struct filter_part *part);

/* Turns the part into times, with what the open file says. CLI_OK, or CLI_USAGE after saying why not. */
enum cli_exit filter_set_part(const struct cli_tool *tool, struct pd_filter *filter, struct filter_part part,
			      struct pd_reader *reader);

/* Says which of the events that were asked for there are none of, and the names there are. At the end of the input: a pipe tells
 * of events as it goes. */
void filter_say_unknown_events(const struct cli_tool *tool, const struct filter_settings *s, const struct pd_reader *reader);

/* Says when no sample is of the threads and cpus that were asked for. At the end of the input as well. */
void filter_say_empty(const struct cli_tool *tool, const struct filter_settings *s, const struct pd_filter *filter);

void filter_settings_free(struct filter_settings *s);

#endif
