/* log.c - print messages up to a level. */
#include "base/log.h"

#include <stdarg.h>

void log_at(const struct logger *log, enum log_level level, const char *format, ...)
{
	va_list args;

	if (level > log->level)
		return;
	va_start(args, format);
	cli_verror(log->tool, format, args);
	va_end(args);
}

void log_unless_blocked(const struct logger *log, enum log_level level, const char *text)
{
	if (level <= log->level)
		cli_error_unless_blocked(log->tool, text);
}

int log_error(const struct logger *log, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	cli_verror(log->tool, format, args);
	va_end(args);
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
