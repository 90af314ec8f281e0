/* log.h - messages on stderr. */
#ifndef RECORD_LOG_H
#define RECORD_LOG_H

#include "cli/cli.h"

enum log_level {
	LOG_ERROR,
	LOG_WARNING,		/* not with -q */
	LOG_DETAIL,		/* only with -v */
};

struct logger {
	const struct cli_tool *tool;
	enum log_level level;	/* the least important that is printed */
};

/* Prints a line that begins with the tool's name. */
void log_at(const struct logger *log, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As log_at(), but prints nothing where that could wait, for a thread that must not. */
void log_unless_blocked(const struct logger *log, enum log_level level, const char *text);

/* Logs an error and returns status, for `return log_error(...)`. */
int log_error(const struct logger *log, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints "[ precord: ... ]" at the level of warnings. */
void log_footer(const struct logger *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
