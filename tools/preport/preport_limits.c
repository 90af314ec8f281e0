/* preport_limits.c - percentages on the command line: what is too small to show, or too much. */
#include "preport/preport_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GLOB_SIZE = 256 };

static bool is_percent(const char *text, double *percent)
{
	char *end;

	*percent = strtod(text, &end);
	return end > text && *percent >= 0 && *percent <= 100 && (!*end || strcmp(end, "%") == 0);
}

enum cli_exit percent_read(const struct cli_tool *tool, const char *option, const char *text,
			   double *percent)
{
	*percent = 0;
	if (!text || is_percent(text, percent))
		return CLI_OK;
	return cli_usage(tool, "'--%s' must be a percentage, not '%s'", option, text);
}

/* Reads PATTERN=PERCENT into `glob` and *limit. */
static bool read_limit(const char *text, char glob[GLOB_SIZE], double *limit)
{
	const char *equals = strrchr(text, '=');

	if (!equals || equals == text || equals - text >= GLOB_SIZE)
		return false;
	snprintf(glob, GLOB_SIZE, "%.*s", (int)(equals - text), text);
	return is_percent(equals + 1, limit);
}

enum cli_exit limits_check(const struct cli_tool *tool, const struct cli_list *limits)
{
	char glob[GLOB_SIZE];
	double limit;

	for (size_t i = 0; i < limits->count; i++)
		if (!read_limit(limits->items[i], glob, &limit))
			return cli_usage(tool, "'--fail-above' must be PATTERN=PERCENT, such as "
					 "'malloc*=5%%', not '%s'", limits->items[i]);
	return CLI_OK;
}

enum limits limits_judge(const struct cli_tool *tool, const struct cli_list *limits,
			 const char *name, const struct pp_profile *profile,
			 const struct pp_profile *base, enum pp_measure by)
{
	enum limits worst = LIMITS_KEPT;
	char glob[GLOB_SIZE];
	double limit, share, before;
	const size_t event = pp_main_event(profile);

	for (size_t i = 0; i < limits->count; i++) {
		if (!read_limit(limits->items[i], glob, &limit))
			continue;
		share = pp_share(profile, event, glob, by);
		before = base ? pp_share(base, pp_compared_event(base, profile, event), glob, by) :
				0;
		if (share <= 0 && before <= 0) {
			cli_error(tool, "%s: '--fail-above': no function matches '%s'", name, glob);
			worst = worst == LIMITS_KEPT ? LIMITS_OF_NOTHING : worst;
		}
		share -= before;
		if (share <= limit)
			continue;
		cli_error(tool, "%s: '%s' %s %.2f %% of the samples, more than %.2f %%", name,
			  glob, base ? "gained" : "is in", share, limit);
		worst = LIMITS_EXCEEDED;
	}
	return worst;
}
