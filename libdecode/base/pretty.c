/* pretty.c - a bracket stays on its line while it may fit; when it can't, it is broken and its inside tried anew. */
#include "base/pretty.h"

#include <string.h>

static void hand_on(struct pd_pretty *p)
{
	if (p->used && !p->failed)
		p->failed = p->out.write(p->out.ctx, p->buffer, p->used);
	p->used = 0;
}

static void put(struct pd_pretty *p, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p->used == sizeof(p->buffer))
			hand_on(p);
		p->buffer[p->used++] = text[i];
	}
	p->column += n;
}

static void new_line(struct pd_pretty *p)
{
	put(p, "\n", 1);
	p->column = 0;
	for (unsigned int i = 0; i < p->depth; i++)
		put(p, "  ", 2);
}

static void take(struct pd_pretty *p, char c);

/* The first bracket held is broken, what is behind it gets another chance. */
static void break_held(struct pd_pretty *p)
{
	char again[sizeof(p->held)];
	size_t n = p->nr_held;

	memcpy(again, p->held, n);
	p->nr_held = p->held_depth = 0;
	p->state = PD_PRETTY_OUTSIDE;
	put(p, again, 1);
	p->depth++;
	new_line(p);
	for (size_t i = 1; i < n; i++)
		take(p, again[i]);
}

static void end_held(struct pd_pretty *p)
{
	put(p, p->held, p->nr_held);
	p->nr_held = 0;
	if (!p->depth)
		new_line(p);
}

static void take_held(struct pd_pretty *p, char c, bool outside)
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

static void take_broken(struct pd_pretty *p, char c, bool outside)
{
	if (outside && (c == '{' || c == '[')) {
		take_held(p, c, outside);
	} else if (outside && (c == '}' || c == ']')) {
		p->depth--;
		new_line(p);
		put(p, &c, 1);
		if (!p->depth)
			new_line(p);
	} else {
		put(p, &c, 1);
		if (outside && c == ',')
			new_line(p);
		else if (outside && c == ':')
			put(p, " ", 1);
	}
}

/* Blanks between values are made anew. */
static void take(struct pd_pretty *p, char c)
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
		take_held(p, c, outside);
	else
		take_broken(p, c, outside);
}

static int write_pretty(void *ctx, const void *bytes, size_t n)
{
	struct pd_pretty *p = ctx;
	const char *c = bytes;

	for (size_t i = 0; i < n; i++)
		take(p, c[i]);
	hand_on(p);
	return p->failed;
}

struct pd_output pd_pretty_init(struct pd_pretty *p, struct pd_output out)
{
	*p = (struct pd_pretty){ .out = out };
	return (struct pd_output){ write_pretty, p };
}
