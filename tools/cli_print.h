/* cli_print.h - what the files of cli share: everything that is printed from the option rows. */
#ifndef PD_TOOLS_CLI_PRINT_H
#define PD_TOOLS_CLI_PRINT_H

#include <stdio.h>

#include "cli.h"

enum {
	CLI_SPELLING_MAX = 160,	/* bytes that hold any cli_spelling() or cli_value() */
};

/* The rows that every tool has, ended by CLI_END. */
extern const struct cli_option cli_builtin[];
extern const char *const cli_shells[];

/* True for the kinds whose value is a word of its own when it is not attached. */
bool cli_takes_value(const struct cli_option *o);

/* True for rows that stand for an option which help and completion show. */
bool cli_is_shown(const struct cli_option *o);

/* What stands for the value of o, "" when it takes none; its own name or the joined choices. */
const char *cli_value(const struct cli_option *o, char *buf, size_t size);

/* Writes how o is given, "-o, --output FILE", and returns buf. */
const char *cli_spelling(const struct cli_option *o, char *buf, size_t size);

/* The name nearest to the one asked for, or NULL when none is near. */
const struct cli_option *cli_nearest(const struct cli_tool *tool, const char *name, size_t length);

void cli_print_help(const struct cli_tool *tool, FILE *out);
void cli_print_version(const struct cli_tool *tool, FILE *out);
void cli_print_man(const struct cli_tool *tool, FILE *out);
void cli_print_completion(const struct cli_tool *tool, const char *shell, FILE *out);

/* The exit statuses of the tool, for help and man. */
const struct cli_note *cli_exits(const struct cli_tool *tool);

#endif
