/* input_errors.c - messages on the errors of an input. */
#include "files/input_errors.h"

enum { LIKELY_MEMORY = 16 << 20 };

const char *input_error_option(const struct pd_error *e)
{
	return e->code == PD_E_LIMIT && !e->text ? " (--memory)" : "";
}

void input_errors_add(struct input_errors *errors, const char *name, const struct pd_error *e)
{
	char text[512];

	if (e->severity == PD_NOTE && !errors->is_verbose)
		return;
	if (e->severity > PD_NOTE)
		errors->nr++;
	if (errors->is_verbose || errors->nr <= errors->most)
		cli_error(errors->tool, "%s: %s%s", name, pd_error_text(e, text, sizeof(text)),
			  input_error_option(e));
	else if (errors->nr == errors->most + 1)
		cli_error(errors->tool, "%s: more errors; -v shows all of them", name);
}

void input_lacks_memory(const struct cli_tool *tool, const char *name, uint64_t limit)
{
	const unsigned long long memory = limit ? limit : PD_MEMORY_LIMIT;
	const unsigned int shift = memory % (1 << 20) ? memory % (1 << 10) ? 0 : 10 : 20;
	static const char *const units[] = { "bytes", "KiB", "MiB" };

	cli_error(tool, "%s: needs more memory than --memory allows, which is %llu %s: try "
		  "'--memory %lluM'", name, memory >> shift, units[shift / 10],
		  memory < LIKELY_MEMORY ? LIKELY_MEMORY >> 20 : memory >> 19);
}
