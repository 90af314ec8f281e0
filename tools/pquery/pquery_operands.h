/* pquery_operands.h - the operands of pquery: SQL or a command of the prompt, and inputs. */
#ifndef PD_TOOLS_PQUERY_OPERANDS_H
#define PD_TOOLS_PQUERY_OPERANDS_H

#include "files/input.h"
#include "pquery/pquery_options.h"

struct operands {
	const char *sql;		/* NULL: from standard input */
	char command[128];		/* `sql` with its argument, if that is an operand */
	struct input *inputs;		/* to be freed */
	size_t nr_inputs;
};

/* Sorts the operands. Returns CLI_OK, or another status after a message. */
enum cli_exit operands_sort(struct operands *o, const struct settings *s, char **words);

#endif
