/* cli_print.h - help, man page and completion from the option rows; shared by the cli_*.c files. */
#ifndef PD_TOOLS_CLI_PRINT_H
#define PD_TOOLS_CLI_PRINT_H

#include <stdio.h>

#include "cli/cli.h"

enum {
	CLI_SPELLING_MAX = 160,	/* bytes that hold any cli_spelling() or cli_value() */
};

/* The rows that every tool has, ended by CLI_END. */
extern const struct cli_option cli_builtin[];
extern const char *const cli_shells[];

/* Returns whether the value may be the next argument. */
bool cli_takes_value(const struct cli_option *o);

/* Returns whether help and completion show the row. */
bool cli_is_shown(const struct cli_option *o);

/* Returns the placeholder of the value in help, or the choices; "" for an option without value. */
const char *cli_value(const struct cli_option *o, char *buf, size_t size);

/* Writes the option as help shows it, "-o, --output FILE", and returns buf. */
const char *cli_spelling(const struct cli_option *o, char *buf, size_t size);

/* Returns the option with the most similar name, or NULL when none is similar. */
const struct cli_option *cli_nearest(const struct cli_tool *tool, const char *name, size_t length);

/* Returns the choice of an option that a word is similar to, or another name of, or NULL. */
const char *cli_nearest_word(const struct cli_tool *tool, const struct cli_option *o,
			     const char *word);

void cli_print_help(const struct cli_tool *tool, FILE *out);
void cli_print_version(const struct cli_tool *tool, FILE *out);
void cli_print_man(const struct cli_tool *tool, FILE *out);
void cli_print_completion(const struct cli_tool *tool, const char *shell, FILE *out);

/* Returns the exit statuses of the tool, for help and man page. */
const struct cli_note *cli_exits(const struct cli_tool *tool);

#endif
