/* input_errors.h - messages on the errors of an input: the first ones, or all. */
#ifndef PD_TOOLS_INPUT_ERRORS_H
#define PD_TOOLS_INPUT_ERRORS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "pd/pd.h"

struct input_errors {
	const struct cli_tool *tool;
	unsigned int most;	/* that are shown if not verbose */
	bool is_verbose;	/* shows all of them, and notes */
	uint64_t nr;		/* without notes */
};

/* Returns what follows the text of an error: the option that has the limit, or nothing. */
const char *input_error_option(const struct pd_error *e);

/* Counts an error of the input of that name and prints it; the first that is not shown gives a line
 * that says so. */
void input_errors_add(struct input_errors *errors, const char *name, const struct pd_error *e);

/* Prints that the memory limit (0: the default) is too low for what has that name, and one that is
 * more likely to suffice. */
void input_lacks_memory(const struct cli_tool *tool, const char *name, uint64_t limit);

#endif
