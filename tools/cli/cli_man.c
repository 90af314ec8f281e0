/* cli_man.c - print the manual page in roff's man macros. */
#include <ctype.h>
#include <string.h>

#include "cli/cli_print.h"

/* Prints text escaped for roff: no line is a request, and dashes stay ASCII. */
static void print_span(const char *text, size_t length, FILE *out)
{
	bool at_start = true;

	for (const char *end = text + length; text < end; text++) {
		if (at_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '\'')
			fputs("\\(aq", out);
		else
			putc(*text, out);
		at_start = *text == '\n';
	}
}

static void print_text(const char *text, FILE *out)
{
	print_span(text, strlen(text), out);
}

static void print_line(const char *text, FILE *out)
{
	print_text(text, out);
	putc('\n', out);
}

static void print_heading(const char *macro, const char *title, FILE *out)
{
	fprintf(out, ".%s ", macro);
	if (strcmp(macro, "SH") == 0)
		for (; *title; title++)
			putc(toupper((unsigned char)*title), out);
	print_line(title, out);
}

/* A blank line in the text starts a new paragraph. */
static void print_paragraphs(const char *text, FILE *out)
{
	for (const char *end; (end = strstr(text, "\n\n")) != NULL; text = end + 2) {
		print_span(text, (size_t)(end - text), out);
		fputs("\n.PP\n", out);
	}
	print_line(text, out);
}

static void print_option(const struct cli_option *o, FILE *out)
{
	char value[CLI_SPELLING_MAX];
	bool both = o->kind == CLI_KIND_SWITCH && strncmp(o->name, "no-", 3) != 0;
	bool optional = o->kind == CLI_KIND_OPTIONAL;

	fputs(".TP\n", out);
	if (o->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
	fprintf(out, "\\fB\\-\\-%s", both ? "[no\\-]" : "");
	print_text(o->name, out);
	cli_value(o, value, sizeof(value));
	fputs(optional ? "\\fR[=" : o->bare ? "\\fR [" : "\\fR", out);
	if (value[0]) {
		fputs(o->bare ? "\\fI" : " \\fI", out);
		print_text(value, out);
		fputs("\\fR", out);
	}
	fputs(o->bare ? "]\n" : "\n", out);
	print_line(o->help, out);
}

static void print_options(const struct cli_option *o, FILE *out)
{
	for (; o->kind != CLI_KIND_END; o++) {
		if (o->kind == CLI_KIND_GROUP)
			print_heading("SS", o->help, out);
		else if (cli_is_shown(o))
			print_option(o, out);
	}
}

static void print_examples(const struct cli_note *e, FILE *out)
{
	print_heading("SH", "Examples", out);
	for (; e->name; e++) {
		fputs(".TP\n\\fB", out);
		print_text(e->name, out);
		fputs("\\fR\n", out);
		print_line(e->text, out);
	}
}

void cli_print_man(const struct cli_tool *tool, FILE *out)
{
	size_t summary = strlen(tool->summary);

	if (summary && tool->summary[summary - 1] == '.')
		summary--;
	fputs(".TH ", out);
	for (const char *c = tool->name; *c; c++)
		putc(toupper((unsigned char)*c), out);
	fprintf(out, " 1 \"\" \"%s %s\" \"User Commands\"\n", tool->name, tool->version);
	print_heading("SH", "Name", out);
	fprintf(out, "%s \\- ", tool->name);
	print_span(tool->summary, summary, out);
	putc('\n', out);
	print_heading("SH", "Synopsis", out);
	fprintf(out, ".B %s\n[\\fIOPTION\\fR]...\n", tool->name);
	if (tool->usage)
		print_line(tool->usage, out);
	print_heading("SH", "Description", out);
	print_paragraphs(tool->description ? tool->description : tool->summary, out);
	if (tool->examples)
		print_examples(tool->examples, out);
	print_heading("SH", "Options", out);
	print_options(tool->options, out);
	print_options(cli_builtin, out);
	for (const struct cli_note *s = tool->sections; s && s->name; s++) {
		print_heading("SH", s->name, out);
		print_paragraphs(s->text, out);
	}
	print_heading("SH", "Exit status", out);
	for (const struct cli_note *e = cli_exits(tool); e->name; e++) {
		fprintf(out, ".TP\n.B %s\n", e->name);
		print_line(e->text, out);
	}
	if (tool->see_also) {
		print_heading("SH", "See also", out);
		print_line(tool->see_also, out);
	}
}
