/* limit_options.h - the options that limit what an input can do to a tool that reads recordings. */
#ifndef PD_TOOLS_LIMIT_OPTIONS_H
#define PD_TOOLS_LIMIT_OPTIONS_H

#include "files/max_output.h"
#include "sandbox/sandbox.h"

/* Texts of --memory. */
#define LIMIT_INPUT \
	"keep at most SIZE of the input in memory, such as 1G (default and 0: 256M)"
#define LIMIT_INPUT_AND_NAMES \
	"keep at most SIZE of the input in memory, and as much of files with names of functions, " \
	"such as 1G (default and 0: 256M, and 1G of those files)"

/* S has the members memory, max_output and sandbox. */
#define LIMIT_OPTIONS(S, TEXT) \
	CLI_SIZE(0, "memory", "SIZE", S, memory, TEXT), \
	MAX_OUTPUT_OPTION(S, max_output), \
	SANDBOX_OPTION(S)

#endif
