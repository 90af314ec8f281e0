/* cli_completion.c - print completion scripts for bash, zsh and fish. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_offer.h"

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

/* print_bash() splits --name=VALUE after the '='; an optional value can only be given so. */
static void print_bash_pattern(const struct cli_option *o, FILE *out)
{
	fputc('\t', out);
	if (cli_takes_value(o) && o->letter)
		fprintf(out, "-%c|", o->letter);
	if (cli_takes_value(o))
		fprintf(out, "--%s|", o->name);
	fprintf(out, "--%s=) ", o->name);
}

static void print_bash_value(const struct cli_tool *tool, const struct cli_option *o, FILE *out)
{
	const struct cli_offer offer = cli_offer_for(tool, o);

	print_bash_pattern(o, out);
	switch (offer.kind) {
	case CLI_OFFER_WORDS:
	case CLI_OFFER_COMMAND:
		print_function_name(tool, out);
		fprintf(out, "_offer '%s' < <(", offer.is_list ? "," : "");
		if (offer.kind == CLI_OFFER_COMMAND) {
			fprintf(out, "%s %s 2>/dev/null", tool->name, offer.command);
		} else {
			fputs("printf '%s\\n'", out);
			cli_print_words(tool, o, out);
		}
		fputs("); ", out);
		break;
	case CLI_OFFER_FILES:
	case CLI_OFFER_DIRS:
		fprintf(out,
			"compopt -o filenames; mapfile -t COMPREPLY < <(compgen %s -- \"$cur\"); ",
			offer.kind == CLI_OFFER_FILES ? "-f" : "-d");
		break;
	case CLI_OFFER_USERS:
		fputs("mapfile -t COMPREPLY < <(compgen -u -- \"$cur\"); ", out);
		break;
	case CLI_OFFER_NOTHING:
		break;
	}
	fputs(";;\n", out);
}

static void print_bash_values(const struct cli_tool *tool, const struct cli_option *o, FILE *out)
{
	for (; o->kind != CLI_KIND_END; o++)
		if (cli_takes_value(o) || o->kind == CLI_KIND_OPTIONAL)
			print_bash_value(tool, o, out);
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

/* Prints the function that reads words and offers those which complete the value, or its last
 * item. */
static void print_bash_offer(const struct cli_tool *tool, FILE *out)
{
	print_function_name(tool, out);
	fputs("_offer()\n{\n"
	      "\tlocal head= item=$cur word\n\n"
	      "\tif [[ -n $1 && $cur == *,* ]]; "
	      "then\n\t\thead=${cur%,*},\n\t\titem=${cur##*,}\n\tfi\n"
	      "\twhile IFS= read -r word; do\n"
	      "\t\tif [[ $word == \"$item\"* ]]; then\n\t\t\tCOMPREPLY+=(\"$head$word\")\n"
	      "\t\tfi\n\tdone\n}\n\n", out);
}

static void print_bash_operands(const struct cli_tool *tool, FILE *out)
{
	fputs("\t*)\n\t\tif [[ $cur == -* ]]; then\n\t\t\tmapfile -t COMPREPLY < <(compgen -W '",
	      out);
	print_bash_names(tool->options, out);
	print_bash_names(cli_builtin, out);
	fputs("' -- \"$cur\")\n", out);
	if (tool->operands != CLI_NONE)
		fprintf(out,
			"\t\telse\n\t\t\tcompopt -o filenames\n\t\t\tmapfile -t COMPREPLY < "
			"<(compgen %s -- \"$cur\")\n",
			tool->operands == CLI_COMMAND ? "-c -f" : "-f");
	fputs("\t\tfi ;;\n", out);
}

static void print_bash(const struct cli_tool *tool, FILE *out)
{
	fprintf(out, "# bash completion for %s\n", tool->name);
	print_bash_offer(tool, out);
	print_function_name(tool, out);
	fputs("()\n{\n"
	      "\tlocal at=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev cut\n\n"
	      "\tCOMPREPLY=()\n"
	      "\t# bash splits words at ':' and '=' and replaces only the text after them\n"
	      "\twhile ((at > 1)) && [[ $cur == [:=]* || ${COMP_WORDS[at-1]} == [:=]* ]]; do\n"
	      "\t\tat=$((at - 1))\n\t\tcur=${COMP_WORDS[at]}$cur\n\tdone\n"
	      "\tprev=${COMP_WORDS[at-1]}\n"
	      "\tif [[ $cur == --*=* ]]; then\n\t\tprev=${cur%%=*}=\n\t\tcur=${cur#*=}\n\tfi\n"
	      "\tcase $prev in\n", out);
	print_bash_values(tool, tool->options, out);
	print_bash_values(tool, cli_builtin, out);
	print_bash_operands(tool, out);
	fputs("\tesac\n"
	      "\tcut=${cur%\"${cur##*[:=]}\"}\n"
	      "\tif [[ -n $cut ]]; then\n\t\tCOMPREPLY=(\"${COMPREPLY[@]#\"$cut\"}\")\n\tfi\n"
	      "}\ncomplete -F ", out);
	print_function_name(tool, out);
	fprintf(out, " %s\n", tool->name);
}

/* The words are arguments of compadd, which takes them as they are; a ':' would end the action. */
static void print_zsh_words(const struct cli_tool *tool, const struct cli_option *o, FILE *out)
{
	const struct cli_offer offer = cli_offer_for(tool, o);
	char *words = NULL;
	size_t size;
	FILE *stream = open_memstream(&words, &size);

	fprintf(out, "{%scompadd -", offer.is_list ? "_sequence " : "");
	if (offer.kind == CLI_OFFER_COMMAND)
		fprintf(out, " ${(f)\"$(%s %s 2>/dev/null)\"}", tool->name, offer.command);
	else if (stream)
		cli_print_words(tool, o, stream);
	if (stream && fclose(stream) == 0)
		print_quoted(words, ":", "'\\''", out);
	free(words);
	putc('}', out);
}

static void print_zsh_action(const struct cli_tool *tool, const struct cli_option *o, FILE *out)
{
	const enum cli_offer_kind kind = cli_offer_for(tool, o).kind;
	char value[CLI_SPELLING_MAX];

	if (!cli_takes_value(o) && o->kind != CLI_KIND_OPTIONAL)
		return;
	fputs(o->kind == CLI_KIND_OPTIONAL ? "::" : ":", out);
	print_quoted(o->choices ? o->name : cli_value(o, value, sizeof(value)), "[]:\\", "'\\''",
		     out);
	putc(':', out);
	if (kind == CLI_OFFER_WORDS || kind == CLI_OFFER_COMMAND)
		print_zsh_words(tool, o, out);
	else if (kind != CLI_OFFER_NOTHING)
		fputs(kind == CLI_OFFER_DIRS ? "_files -/" : kind == CLI_OFFER_USERS ? "_users" :
		      "_files", out);
}

/* One argument of _arguments; dash and name are "-" and "o", or "--" and "output". */
static void print_zsh_spec(const struct cli_tool *tool, const struct cli_option *o,
			   const char *dash, const char *name, FILE *out)
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
	print_zsh_action(tool, o, out);
	putc('\'', out);
}

static void print_zsh_options(const struct cli_tool *tool, const struct cli_option *o, FILE *out)
{
	char other[CLI_SPELLING_MAX];

	for (; o->kind != CLI_KIND_END; o++) {
		if (!cli_is_shown(o))
			continue;
		if (o->letter)
			print_zsh_spec(tool, o, "-", (char[]){ o->letter, '\0' }, out);
		print_zsh_spec(tool, o, "--", o->name, out);
		if (o->kind == CLI_KIND_SWITCH)
			print_zsh_spec(tool, o, "--", other_name(o, other, sizeof(other)), out);
	}
}

static void print_zsh(const struct cli_tool *tool, FILE *out)
{
	fprintf(out, "#compdef %s\n_arguments -s -S", tool->name);
	print_zsh_options(tool, tool->options, out);
	print_zsh_options(tool, cli_builtin, out);
	if (tool->operands == CLI_COMMAND)
		fputs(" \\\n\t'(-)1: :_command_names -e' \\\n\t'*:: :_normal'", out);
	else if (tool->operands != CLI_NONE)
		fprintf(out, " \\\n\t'%s:file:_files'", tool->operands == CLI_MANY ? "*" : "");
	putc('\n', out);
}

static void print_fish_words(const struct cli_tool *tool, const struct cli_option *o, FILE *out)
{
	const struct cli_offer offer = cli_offer_for(tool, o);

	fputs(cli_takes_value(o) ? " -x -a '" : " -f -a '", out);
	if (offer.is_list)
		fputs("(__fish_append ,", out);
	if (offer.kind == CLI_OFFER_COMMAND)
		fprintf(out, " (%s %s 2>/dev/null)", tool->name, offer.command);
	else
		cli_print_words(tool, o, out);
	fputs(offer.is_list ? ")'" : "'", out);
}

static void print_fish_option(const struct cli_tool *tool, const struct cli_option *o,
			      const char *name, FILE *out)
{
	const enum cli_offer_kind kind = cli_offer_for(tool, o).kind;

	fprintf(out, "complete -c %s -l %s", tool->name, name);
	if (o->letter && name == o->name)
		fprintf(out, " -s %c", o->letter);
	if (kind == CLI_OFFER_WORDS || kind == CLI_OFFER_COMMAND)
		print_fish_words(tool, o, out);
	else if (kind == CLI_OFFER_USERS)
		fputs(" -x -a '(__fish_complete_users)'", out);
	else if (cli_takes_value(o))
		fputs(kind == CLI_OFFER_NOTHING ? " -x" : " -r -F", out);
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
