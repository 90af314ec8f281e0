/* input_errors.c - messages on the errors of an input. */
#include "files/input_errors.h"

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
