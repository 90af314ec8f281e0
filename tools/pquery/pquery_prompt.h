/* pquery_prompt.h - statements and commands that are read from standard input. */
#ifndef PD_TOOLS_PQUERY_PROMPT_H
#define PD_TOOLS_PQUERY_PROMPT_H

#include "files/output.h"

/* Runs statements. */
struct prompt {
	const struct cli_tool *tool;
	struct output *out;
	/* Runs a text of statements and returns CLI_OK, or another status after a message. */
	enum cli_exit (*run)(void *ctx, const char *sql);
	void *ctx;
};

/* Returns whether the text is a command, ".schema". */
bool prompt_is_command(const char *text);

/* Runs a command. Returns CLI_OK, or CLI_USAGE after a message. */
enum cli_exit prompt_command(const struct prompt *p, const char *text);

/* Reads standard input to its end. At a terminal errors do not end it; elsewhere the first one
 * does. Returns the status. */
enum cli_exit prompt_read(const struct prompt *p);

#endif
