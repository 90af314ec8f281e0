/* cli_help.c - print --help and --version. */
#include <string.h>

#include "cli/cli_print.h"

enum {
	LINE = 80,		/* not the terminal's width: the README quotes this text */
	COLUMN = 30,		/* where the explanations start */
};

/* Prints text at the column that the line has reached, broken at blanks and indented to it. */
static void print_wrapped(const char *text, size_t column, FILE *out)
{
	size_t at = column;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (at + word > LINE && at > column) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		fprintf(out, "%.*s", (int)word, text);
		at += word;
		text += word;
		if (*text == ' ') {
			text++;
			if (at + 1 + strcspn(text, " ") <= LINE)
				putc(' ', out);
			at++;
		}
	}
	putc('\n', out);
}

static void print_row(const char *name, const char *text, FILE *out)
{
	size_t at = 2 + strlen(name);

	fprintf(out, "  %s", name);
	if (at + 2 > COLUMN) {
		putc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", (int)(COLUMN - at), "");
	print_wrapped(text, COLUMN, out);
}

/* A command stays in one line, to be copied. */
static void print_example(const struct cli_note *e, FILE *out)
{
	enum { INDENT = 6 };

	fprintf(out, "  %s\n%*s", e->name, INDENT, "");
	print_wrapped(e->text, INDENT, out);
}

static void print_options(const struct cli_option *o, FILE *out)
{
	char spelling[2 * CLI_SPELLING_MAX];

	if (o->kind != CLI_KIND_GROUP && o->kind != CLI_KIND_END)
		fprintf(out, "\nOptions:\n");
	for (; o->kind != CLI_KIND_END; o++) {
		if (o->kind == CLI_KIND_GROUP)
			fprintf(out, "\n%s:\n", o->help);
		else if (cli_is_shown(o))
			print_row(cli_spelling(o, spelling, sizeof(spelling)), o->help, out);
	}
}

static void print_exits(const struct cli_note *exits, FILE *out)
{
	size_t width = 3;

	for (const struct cli_note *e = exits; e->name; e++)
		width = strlen(e->name) > width ? strlen(e->name) : width;
	fprintf(out, "\nExit status:\n");
	for (const struct cli_note *e = exits; e->name; e++) {
		fprintf(out, "  %-*s ", (int)width, e->name);
		print_wrapped(e->text, width + 3, out);
	}
}

void cli_print_help(const struct cli_tool *tool, FILE *out)
{
	fprintf(out, "%s\n\nUsage: %s [OPTION]...%s%s\n", tool->summary, tool->name,
		tool->usage ? " " : "", tool->usage ? tool->usage : "");
	if (tool->operand_note)
		fprintf(out, "%s\n", tool->operand_note);
	if (tool->examples) {
		fprintf(out, "\nExamples:\n");
		for (const struct cli_note *e = tool->examples; e->name; e++)
			print_example(e, out);
	}
	print_options(tool->options, out);
	print_options(cli_builtin, out);
	print_exits(cli_exits(tool), out);
}

void cli_print_version(const struct cli_tool *tool, FILE *out)
{
	fprintf(out, "%s %s\n", tool->name, tool->version);
	if (tool->build)
		fprintf(out, "%s\n", tool->build);
}
