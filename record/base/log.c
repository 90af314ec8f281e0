/* log.c - messages by rank. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void say(const struct say *s, enum say_level level, const char *format, ...)
{
	char line[4096];
	va_list args;

	if (level > s->level)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	cli_error(s->tool, "%s", line);
}

int say_failed(const struct say *s, int status, const char *format, ...)
{
	char line[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	cli_error(s->tool, "%s", line);
	return status;
}

void say_footer(const struct say *s, const char *format, ...)
{
	va_list args;

	if (s->level < SAY_WARNING)
		return;
	va_start(args, format);
	cli_footer(s->tool, format, args);
	va_end(args);
}
