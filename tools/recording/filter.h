/* filter.h - the filters of a recording's records, from command line to library. */
#ifndef PD_TOOLS_FILTER_H
#define PD_TOOLS_FILTER_H

#include "cli/cli.h"
#include "pd/history.h"
#include "pd/pd.h"
#include "recording/symbol_filter.h"

/* The options as given: each list may be repeated and contain commas. */
struct filter_settings {
	struct cli_list types, pids, tids, cpus, comms, events;
	const char *time;	/* NULL: any */
	struct symbol_filter_settings places;
};

/* The rows of the options, for a tool whose settings have a struct filter_settings; `what` they
 * keep, "records" or "samples". --types is pdecode's alone. */
#define FILTER_OPTIONS(type, member, what)						\
	CLI_LIST('e', "event", "LIST", type, member.events,				\
		 "samples of these events: cycles,'sched:*'"),				\
	CLI_LIST(0, "pid", "LIST", type, member.pids,					\
		 what " of these processes: 4711,5000-5010"),				\
	CLI_LIST(0, "tid", "LIST", type, member.tids, what " of these threads"),	\
	CLI_LIST('c', "comm", "LIST", type, member.comms,				\
		 what " of threads with these names: bash,'kworker*'"),			\
	CLI_LIST('C', "cpu", "LIST", type, member.cpus,					\
		 what " of these CPUs: 0-3,5; of a command: precord --sample-cpu"),	\
	CLI_STRING(0, "time", "A,B", type, member.time,					\
		   what " from A to B, those at B included; either may be left out. Seconds " \
		   "as perf prints them (12.5), ns as pdecode prints them, or with a unit " \
		   "(s, ms, us, ns); or a part of the recording: 10%-20%"),		\
	SYMBOL_FILTER_OPTIONS(type, member.places)

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

/* Returns the text "sh, app": names of threads of a sealed history, those with the highest tids
 * first. */
const char *filter_list_comms(const struct pd_history *h, char *text, size_t size);

/* Reports if no sample matches the requested threads and CPUs. To be called at the end of the
 * input. */
void filter_report_no_match(const struct cli_tool *tool, const struct filter_settings *s,
			    const struct pd_filter *filter);

void filter_settings_free(struct filter_settings *s);

#endif
