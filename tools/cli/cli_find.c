/* cli_find.c - find options by their long names and by the beginnings of these. */
#include "cli/cli_find.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAMED_MOST = 6,		/* of the options that an ambiguous beginning may mean */
	SPELLED_SIZE = 80,
};

static const char no[] = "no-";
#define NO_LENGTH (sizeof(no) - 1)

static bool has_no(const char *name, size_t length)
{
	return length > NO_LENGTH && memcmp(name, no, NO_LENGTH) == 0;
}

/* Writes the name of that form: "NAME" or "no-NAME", where the row may have either. */
static const char *name_of(const struct cli_match *m, char buf[SPELLED_SIZE])
{
	const char *name = m->option->name;

	if (m->form == CLI_NAMED)
		snprintf(buf, SPELLED_SIZE, "%s", name);
	else if (has_no(name, strlen(name)))
		snprintf(buf, SPELLED_SIZE, "%s", name + NO_LENGTH);
	else
		snprintf(buf, SPELLED_SIZE, "%s%s", no, name);
	return buf;
}

void cli_long_name(const struct cli_match *m, char *buf, size_t size)
{
	char name[SPELLED_SIZE];

	snprintf(buf, size, "--%s", name_of(m, name));
}

/* The options whose names begin so. */
struct candidates {
	struct cli_match first;
	size_t n;
	char names[NAMED_MOST * SPELLED_SIZE];
};

static void add_candidate(struct candidates *c, const struct cli_match *m)
{
	const size_t used = strlen(c->names);
	char name[SPELLED_SIZE];

	if (!c->n)
		c->first = *m;
	if (c->n < NAMED_MOST)
		snprintf(c->names + used, sizeof(c->names) - used, "%s--%s", c->n ? ", " : "",
			 name_of(m, name));
	c->n++;
}

/* Returns whether it is the whole name of a row; else collects the rows that it begins. */
static bool match_rows(const struct cli_option *o, const char *given, size_t length,
		       struct candidates *c, struct cli_match *found)
{
	char name[SPELLED_SIZE];

	for (; o->kind != CLI_KIND_END; o++) {
		const enum cli_form last = o->kind == CLI_KIND_SWITCH ? CLI_NEGATED : CLI_NAMED;

		for (enum cli_form form = CLI_NAMED; o->name && form <= last; form++) {
			const struct cli_match m = { o, form };

			if (strncmp(name_of(&m, name), given, length) != 0)
				continue;
			if (!name[length]) {
				*found = m;
				return true;
			}
			if (length && !o->exact)
				add_candidate(c, &m);
		}
	}
	return false;
}

static _Noreturn void refuse_unknown(const struct cli_tool *tool, const char *spelled,
				     const char *name, size_t length)
{
	const struct cli_option *near = cli_nearest(tool, name, length);
	const char *prefix = "";

	if (!near && has_no(name, length)) {
		near = cli_nearest(tool, name + NO_LENGTH, length - NO_LENGTH);
		near = near && near->kind == CLI_KIND_SWITCH ? near : NULL;
		prefix = no;
	}
	if (near)
		exit(cli_usage(tool, "unknown option '%s'; did you mean '--%s%s'?", spelled, prefix,
			       near->name));
	exit(cli_usage(tool, "unknown option '%s'", spelled));
}

struct cli_match cli_find_long(const struct cli_tool *tool, const char *name, size_t length)
{
	struct candidates c = { .n = 0 };
	char spelled[SPELLED_SIZE];
	struct cli_match m;

	if (match_rows(tool->options, name, length, &c, &m) ||
	    match_rows(cli_builtin, name, length, &c, &m))
		return m;
	if (c.n == 1)
		return c.first;
	snprintf(spelled, sizeof(spelled), "--%.*s", (int)(length < 70 ? length : 70), name);
	if (!c.n)
		refuse_unknown(tool, spelled, name, length);
	exit(cli_usage(tool, "'%s' is ambiguous: %s%s", spelled, c.names,
		       c.n > NAMED_MOST ? ", ..." : ""));
}
