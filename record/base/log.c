/* log.c - print messages up to a level. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_at(const struct logger *log, enum log_level level, const char *format, ...)
{
	char line[4096];
	va_list args;

	if (level > log->level)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	cli_error(log->tool, "%s", line);
}

int log_error(const struct logger *log, int status, const char *format, ...)
{
	char line[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	cli_error(log->tool, "%s", line);
	return status;
}

void log_footer(const struct logger *log, const char *format, ...)
{
	va_list args;

	if (log->level < LOG_WARNING)
		return;
	va_start(args, format);
	cli_footer(log->tool, format, args);
	va_end(args);
}
