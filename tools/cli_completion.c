/* cli_completion.c - print completion scripts for bash, zsh and fish. */
#include <string.h>

#include "cli_print.h"

/* What a shell should offer for the value of an option or for an operand. */
enum offer { OFFER_NOTHING, OFFER_FILES, OFFER_DIRS, OFFER_CHOICES };

static enum offer offer_for(const struct cli_option *o)
{
	if (o->choices)
		return OFFER_CHOICES;
	if (!o->value)
		return OFFER_NOTHING;
	if (strncmp(o->value, "FILE", 4) == 0)
		return OFFER_FILES;
	return strncmp(o->value, "DIR", 3) == 0 ? OFFER_DIRS : OFFER_NOTHING;
}

static void print_choices(const struct cli_option *o, FILE *out)
{
	for (size_t i = 0; o->choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", o->choices[i]);
}

/* Prints text for use inside single quotes, with a backslash before each of special. */
static void print_quoted(const char *text, const char *special, const char *quote, FILE *out)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs(quote, out);
		else
			fprintf(out, "%s%c", strchr(special, *text) ? "\\" : "", *text);
	}
}

/* The other name of a switch: "no-NAME" for "NAME" and the reverse. */
static const char *other_name(const struct cli_option *o, char *buf, size_t size)
{
	if (strncmp(o->name, "no-", 3) == 0)
		return o->name + 3;
	snprintf(buf, size, "no-%s", o->name);
	return buf;
}

static void print_function_name(const struct cli_tool *tool, FILE *out)
{
	putc('_', out);
	for (const char *c = tool->name; *c; c++)
		putc(*c == '-' ? '_' : *c, out);
}

static void print_bash_values(const struct cli_option *o, FILE *out)
{
	for (; o->kind != CLI_KIND_END; o++) {
		if (!cli_takes_value(o))
			continue;
		fputc('\t', out);
		if (o->letter)
			fprintf(out, "-%c|", o->letter);
		fprintf(out, "--%s) ", o->name);
		switch (offer_for(o)) {
		case OFFER_CHOICES:
			fputs("mapfile -t COMPREPLY < <(compgen -W '", out);
			print_choices(o, out);
			fputs("' -- \"$cur\"); ", out);
			break;
		case OFFER_FILES:
			fputs("compopt -o filenames; "
			      "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); ", out);
			break;
		case OFFER_DIRS:
			fputs("compopt -o filenames; "
			      "mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); ", out);
			break;
		case OFFER_NOTHING:
			break;
		}
		fputs("return ;;\n", out);
	}
}

static void print_bash_names(const struct cli_option *o, FILE *out)
{
	char other[CLI_SPELLING_MAX];

	for (; o->kind != CLI_KIND_END; o++) {
		if (!cli_is_shown(o))
			continue;
		fprintf(out, " --%s", o->name);
		if (o->kind == CLI_KIND_SWITCH)
			fprintf(out, " --%s", other_name(o, other, sizeof(other)));
	}
}

static void print_bash(const struct cli_tool *tool, FILE *out)
{
	fprintf(out, "# bash completion for %s\n", tool->name);
	print_function_name(tool, out);
	fputs("()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n\n"
	      "\tCOMPREPLY=()\n"
	      "\t# bash makes '=' a word of its own\n"
	      "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
	      "\telif [[ $prev == = ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
	      "\tcase $prev in\n", out);
	print_bash_values(tool->options, out);
	print_bash_values(cli_builtin, out);
	fputs("\tesac\n\tif [[ $cur == -* ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W '", out);
	print_bash_names(tool->options, out);
	print_bash_names(cli_builtin, out);
	fputs("' -- \"$cur\")\n", out);
	if (tool->operands != CLI_NONE)
		fprintf(out, "\telse\n\t\tcompopt -o filenames\n"
			"\t\tmapfile -t COMPREPLY < <(compgen %s -- \"$cur\")\n",
			tool->operands == CLI_COMMAND ? "-c -f" : "-f");
	fputs("\tfi\n}\ncomplete -F ", out);
	print_function_name(tool, out);
	fprintf(out, " %s\n", tool->name);
}

static void print_zsh_action(const struct cli_option *o, FILE *out)
{
	char value[CLI_SPELLING_MAX];

	if (!cli_takes_value(o) && o->kind != CLI_KIND_OPTIONAL)
		return;
	fputs(o->kind == CLI_KIND_OPTIONAL ? "::" : ":", out);
	print_quoted(o->choices ? o->name : cli_value(o, value, sizeof(value)), "[]:\\", "'\\''",
		     out);
	putc(':', out);
	if (offer_for(o) == OFFER_CHOICES) {
		putc('(', out);
		print_choices(o, out);
		putc(')', out);
	} else if (offer_for(o) != OFFER_NOTHING) {
		fputs(offer_for(o) == OFFER_DIRS ? "_files -/" : "_files", out);
	}
}

/* One argument of _arguments; dash and name are "-" and "o", or "--" and "output". */
static void print_zsh_spec(const struct cli_option *o, const char *dash, const char *name,
			   FILE *out)
{
	bool is_long = dash[1] != '\0';

	fprintf(out, " \\\n\t'%s%s%s", o->kind == CLI_KIND_LIST ? "*" : "", dash, name);
	if (o->kind == CLI_KIND_OPTIONAL)
		fputs(is_long ? "=-" : "-", out);
	else if (cli_takes_value(o))
		fputs(is_long ? "=" : "+", out);
	putc('[', out);
	print_quoted(o->help, "[]:\\", "'\\''", out);
	putc(']', out);
	print_zsh_action(o, out);
	putc('\'', out);
}

static void print_zsh_options(const struct cli_option *o, FILE *out)
{
	char other[CLI_SPELLING_MAX];

	for (; o->kind != CLI_KIND_END; o++) {
		if (!cli_is_shown(o))
			continue;
		if (o->letter)
			print_zsh_spec(o, "-", (char[]){ o->letter, '\0' }, out);
		print_zsh_spec(o, "--", o->name, out);
		if (o->kind == CLI_KIND_SWITCH)
			print_zsh_spec(o, "--", other_name(o, other, sizeof(other)), out);
	}
}

static void print_zsh(const struct cli_tool *tool, FILE *out)
{
	fprintf(out, "#compdef %s\n_arguments -s -S", tool->name);
	print_zsh_options(tool->options, out);
	print_zsh_options(cli_builtin, out);
	if (tool->operands == CLI_COMMAND)
		fputs(" \\\n\t'(-)1: :_command_names -e' \\\n\t'*:: :_normal'", out);
	else if (tool->operands != CLI_NONE)
		fprintf(out, " \\\n\t'%s:file:_files'", tool->operands == CLI_MANY ? "*" : "");
	putc('\n', out);
}

static void print_fish_option(const struct cli_tool *tool, const struct cli_option *o,
			      const char *name, FILE *out)
{
	bool valued = cli_takes_value(o);

	fprintf(out, "complete -c %s -l %s", tool->name, name);
	if (o->letter && name == o->name)
		fprintf(out, " -s %c", o->letter);
	if (offer_for(o) == OFFER_CHOICES) {
		fputs(" -x -a '", out);
		print_choices(o, out);
		putc('\'', out);
	} else if (valued) {
		fputs(offer_for(o) == OFFER_NOTHING ? " -x" : " -r -F", out);
	}
	fputs(" -d '", out);
	print_quoted(o->help, "\\", "\\'", out);
	fputs("'\n", out);
}

static void print_fish(const struct cli_tool *tool, FILE *out)
{
	const struct cli_option *tables[] = { tool->options, cli_builtin };
	char other[CLI_SPELLING_MAX];

	fprintf(out, "# fish completion for %s\n", tool->name);
	if (tool->operands == CLI_NONE)
		fprintf(out, "complete -c %s -f\n", tool->name);
	for (size_t i = 0; i < 2; i++) {
		for (const struct cli_option *o = tables[i]; o->kind != CLI_KIND_END; o++) {
			if (!cli_is_shown(o))
				continue;
			print_fish_option(tool, o, o->name, out);
			if (o->kind == CLI_KIND_SWITCH)
				print_fish_option(tool, o, other_name(o, other, sizeof(other)),
						  out);
		}
	}
}

void cli_print_completion(const struct cli_tool *tool, const char *shell, FILE *out)
{
	if (strcmp(shell, "bash") == 0)
		print_bash(tool, out);
	else if (strcmp(shell, "zsh") == 0)
		print_zsh(tool, out);
	else
		print_fish(tool, out);
}
