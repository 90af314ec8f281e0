/* cli_find.h - the option that a long name means. */
#ifndef PD_TOOLS_CLI_FIND_H
#define PD_TOOLS_CLI_FIND_H

#include "cli/cli_print.h"

enum cli_form { CLI_NAMED, CLI_NEGATED };

/* An option and which of its two names was given: "NAME" or "no-NAME". */
struct cli_match {
	const struct cli_option *option;
	enum cli_form form;
};

/* Returns the option of a name, or of a beginning that only one name has, as getopt_long(3) does.
 * Without one it prints a line and exits with CLI_USAGE. */
struct cli_match cli_find_long(const struct cli_tool *tool, const char *name, size_t length);

/* Writes "--NAME", whole, for messages. */
void cli_long_name(const struct cli_match *m, char *buf, size_t size);

#endif
