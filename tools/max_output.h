/* max_output.h - the option --max-output: what compressed input may become. */
#ifndef PD_TOOLS_MAX_OUTPUT_H
#define PD_TOOLS_MAX_OUTPUT_H

#include <stdint.h>

#include "cli.h"

struct max_output {
	uint64_t bytes, ratio;	/* as in struct pd_options */
};

#define MAX_OUTPUT_OPTION(S, f) \
	CLI_STRING(0, "max-output", "RATIO|SIZE", S, f, \
		"let compressed input become no more than RATIO times its size, such as 100x, or SIZE, such as 2G; 0: any size " \
		"(default 4096x and at least 1G)")

/* Reads what was given, or NULL. CLI_USAGE, with a message: it is neither. */
enum cli_exit max_output_read(const struct cli_tool *tool, const char *text, struct max_output *out);

#endif
