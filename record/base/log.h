/* log.h - what the recorder tells its user, on stderr. */
#ifndef RECORD_LOG_H
#define RECORD_LOG_H

#include "cli.h"

enum say_level {
	SAY_ERROR,
	SAY_WARNING,		/* not with -q */
	SAY_DETAIL,		/* only with -v */
};

struct say {
	const struct cli_tool *tool;
	enum say_level level;	/* the least important one that is said */
};

/* One line, with the tool's name before it. */
void say(const struct say *s, enum say_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same as an error; returns status, for `return say_failed(...)`. */
int say_failed(const struct say *s, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "[ precord: ... ]", a warning in rank. */
void say_footer(const struct say *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
