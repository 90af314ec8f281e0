/* max_output.h - the option --max-output: how far compressed input may expand. */
#ifndef PD_TOOLS_MAX_OUTPUT_H
#define PD_TOOLS_MAX_OUTPUT_H

#include <stdint.h>

#include "cli/cli.h"

struct max_output {
	uint64_t bytes, ratio;	/* as in struct pd_reader_options */
};

#define MAX_OUTPUT_OPTION(S, f) \
	CLI_STRING(0, "max-output", "RATIO|SIZE", S, f, \
		"let compressed input expand to at most RATIO times its size, such as " \
		"100x, or SIZE, such as 2G; 0: no limit (default 4096x, but at least 1G)")

/* Parses text; NULL gives the default. Returns CLI_USAGE after a message if text is invalid. */
enum cli_exit max_output_read(const struct cli_tool *tool, const char *text,
			      struct max_output *out);

#endif
