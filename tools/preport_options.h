/* preport_options.h - the command line of preport. */
#ifndef PREPORT_OPTIONS_H
#define PREPORT_OPTIONS_H

#include "pdecode_filter.h"
#include "pdecode_symbols.h"

struct settings {
	const char *output, *max_output, *group, *title, *sandbox, *sort;
	struct symbol_settings symbols;
	unsigned int format, weight, graph, idle, color, theme, like, layout;
	struct filter_settings filter;
	unsigned long rows, min_percent;
	uint64_t memory;
	const char *base, *parent, *cut_after, *annotate;
	unsigned int max_stack;
	bool fold_recursion;
	struct cli_list limits;
	bool off_cpu, wall, quiet;
	bool open, pager;
	bool children, callers, inverted, addrs, no_symbols, inlines, verbose;
};

extern const struct cli_tool preport;

#endif
