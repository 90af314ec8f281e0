/* preport_limits.h - percentages on the command line: what is too small to show, or too much. */
#ifndef PREPORT_LIMITS_H
#define PREPORT_LIMITS_H

#include "cli/cli.h"
#include "pd/profile.h"

/* Reads a number from 0 to 100, with or without a sign of percent, that an option has; `text` may
 * be NULL. Returns CLI_OK, or CLI_USAGE after a message. */
enum cli_exit percent_read(const struct cli_tool *tool, const char *option, const char *text,
			   double *percent);

/* Checks the values of --fail-above. Returns CLI_OK, or CLI_USAGE after a message. */
enum cli_exit limits_check(const struct cli_tool *tool, const struct cli_list *limits);

/* Whether functions are within their limits. */
enum limits { LIMITS_KEPT, LIMITS_OF_NOTHING, LIMITS_EXCEEDED };

/* Returns whether a function has more than its limit, or with a `base` has gained more, else
 * whether a pattern matches none, and prints which. `name`: of the input, for the message. */
enum limits limits_judge(const struct cli_tool *tool, const struct cli_list *limits,
			 const char *name, const struct pp_profile *profile,
			 const struct pp_profile *base, enum pp_measure by);

#endif
