/* cli_offer.h - the values that completion offers for an option, for all shells. */
#ifndef PD_TOOLS_CLI_OFFER_H
#define PD_TOOLS_CLI_OFFER_H

#include "cli/cli_print.h"

enum cli_offer_kind {
	CLI_OFFER_NOTHING,
	CLI_OFFER_FILES,
	CLI_OFFER_DIRS,
	CLI_OFFER_USERS,
	CLI_OFFER_WORDS,
	CLI_OFFER_COMMAND,
};

struct cli_offer {
	enum cli_offer_kind kind;
	bool is_list;		/* several, separated by commas */
	const char *command;	/* COMMAND: the arguments with which the tool prints values */
};

struct cli_offer cli_offer_for(const struct cli_tool *tool, const struct cli_option *o);

/* Prints the words, with a blank before each. */
void cli_print_words(const struct cli_tool *tool, const struct cli_option *o, FILE *out);

#endif
