/* check_complain.c - reports what is wrong with a table. */
#include <stdarg.h>
#include <stdio.h>

#include "lint/check_tables.h"

void pd_check_complain(struct pd_check *c, const char *path, const char *text, ...)
{
	char line[512];
	size_t used = (size_t)snprintf(line, sizeof(line), "%s%s%s: ", c->table, *path ? " " : "",
				       path);
	va_list args;

	if (used < sizeof(line)) {
		va_start(args, text);
		vsnprintf(line + used, sizeof(line) - used, text, args);
		va_end(args);
	}
	c->complaints++;
	c->complain(c->ctx, line);
}
