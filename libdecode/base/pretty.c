/* pretty.c - keeps brackets on one line while they may fit; those that do not are broken, and their
 * content is tried again. */
#include "base/pretty.h"

#include <string.h>

static void flush_output(struct pd_pretty *p)
{
	if (p->used && !p->failed)
		p->failed = p->out.write(p->out.ctx, p->buffer, p->used);
	p->used = 0;
}

static void append_bytes(struct pd_pretty *p, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p->used == sizeof(p->buffer))
			flush_output(p);
		p->buffer[p->used++] = text[i];
	}
	p->column += n;
}

static void new_line(struct pd_pretty *p)
{
	append_bytes(p, "\n", 1);
	p->column = 0;
	for (unsigned int i = 0; i < p->depth; i++)
		append_bytes(p, "  ", 2);
}

static void add_char(struct pd_pretty *p, char c);

/* Breaks the first pending bracket, and tries what follows it again. */
static void break_held(struct pd_pretty *p)
{
	char again[sizeof(p->held)];
	size_t n = p->nr_held;

	memcpy(again, p->held, n);
	p->nr_held = p->held_depth = 0;
	p->state = PD_PRETTY_OUTSIDE;
	append_bytes(p, again, 1);
	p->depth++;
	new_line(p);
	for (size_t i = 1; i < n; i++)
		add_char(p, again[i]);
}

static void end_held(struct pd_pretty *p)
{
	append_bytes(p, p->held, p->nr_held);
	p->nr_held = 0;
	if (!p->depth)
		new_line(p);
}

static void add_held(struct pd_pretty *p, char c, bool outside)
{
	p->held[p->nr_held++] = c;
	if (outside && (c == ',' || c == ':'))
		p->held[p->nr_held++] = ' ';
	else if (outside && (c == '{' || c == '['))
		p->held_depth++;
	else if (outside && (c == '}' || c == ']'))
		p->held_depth--;
	if (!p->held_depth)
		end_held(p);
	else if (p->column + p->nr_held > PD_PRETTY_WIDTH - 2)	/* its end and a comma follow */
		break_held(p);
}

static void add_broken(struct pd_pretty *p, char c, bool outside)
{
	if (outside && (c == '{' || c == '[')) {
		add_held(p, c, outside);
	} else if (outside && (c == '}' || c == ']')) {
		p->depth--;
		new_line(p);
		append_bytes(p, &c, 1);
		if (!p->depth)
			new_line(p);
	} else {
		append_bytes(p, &c, 1);
		if (outside && c == ',')
			new_line(p);
		else if (outside && c == ':')
			append_bytes(p, " ", 1);
	}
}

/* Drops the input's blanks between values. */
static void add_char(struct pd_pretty *p, char c)
{
	const bool outside = p->state == PD_PRETTY_OUTSIDE;

	if (outside && (c == ' ' || c == '\n'))
		return;
	if (p->state == PD_PRETTY_ESCAPED)
		p->state = PD_PRETTY_IN_STRING;
	else if (!outside && c == '\\')
		p->state = PD_PRETTY_ESCAPED;
	else if (c == '"')
		p->state = outside ? PD_PRETTY_IN_STRING : PD_PRETTY_OUTSIDE;
	if (p->nr_held)
		add_held(p, c, outside);
	else
		add_broken(p, c, outside);
}

static int write_pretty(void *ctx, const void *bytes, size_t n)
{
	struct pd_pretty *p = ctx;
	const char *c = bytes;

	for (size_t i = 0; i < n; i++)
		add_char(p, c[i]);
	flush_output(p);
	return p->failed;
}

struct pd_output pd_pretty_init(struct pd_pretty *p, struct pd_output out)
{
	*p = (struct pd_pretty){ .out = out };
	return (struct pd_output){ write_pretty, p };
}
