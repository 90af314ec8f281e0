/* pquery_options.h - the command line of pquery. */
#ifndef PD_TOOLS_PQUERY_OPTIONS_H
#define PD_TOOLS_PQUERY_OPTIONS_H

#include "recording/symbols.h"

struct settings {
	const char *output, *save, *max_output, *sandbox;
	unsigned int format;
	uint64_t memory;
	unsigned int jobs;
	bool has_names, verbose;
	struct symbol_settings symbols;
};

extern const struct cli_tool pquery;

#endif
