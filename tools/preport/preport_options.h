/* preport_options.h - the command line of preport. */
#ifndef PREPORT_OPTIONS_H
#define PREPORT_OPTIONS_H

#include "recording/filter.h"
#include "recording/symbols.h"

#define ROWS_UNSET (~0ul)

struct settings {
	const char *output, *max_output, *title, *sandbox, *sort;
	struct symbol_settings symbols;
	unsigned int format, weight, graph, idle, color, theme, like, layout;
	struct filter_settings filter;
	unsigned long rows;
	uint64_t memory;
	const char *base, *parent, *cut_after, *annotate, *min, *percent_limit,
		*labels, *fields;
	unsigned int max_stack, thin, jobs;
	bool fold_recursion, mark_cut, raw_names, merge_events, absolute, ns, header;
	struct cli_list inputs, limits, groups;
	bool off_cpu, wall, quiet;
	bool open, pager;
	bool is_as_always;	/* an option asked for what is the default */
	bool stacks, csv, json;
	bool children, callers, inverted, heatmap, addrs, no_symbols, inlines, lines, verbose;
};

extern const struct cli_tool preport;

#endif
