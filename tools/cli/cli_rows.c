/* cli_rows.c - properties of option rows, and the rows that every tool has. */
#include <stdint.h>
#include <string.h>

#include "cli/cli_print.h"

const char *const cli_shells[] = { "bash", "zsh", "fish", NULL };

const struct cli_option cli_builtin[] = {
	CLI_GROUP("About"),
	{ .kind = CLI_KIND_HELP, .letter = 'h', .name = "help", .help = "print this help" },
	{ .kind = CLI_KIND_VERSION, .name = "version",
		.help = "print the version and how it was built" },
	{ .kind = CLI_KIND_MAN, .name = "man", .help = "print the manual page, for man -l -" },
	{ .kind = CLI_KIND_COMPLETION, .name = "completion", .choices = cli_shells,
	  .help = "print the completion script for a shell" },
	CLI_END
};

static const struct cli_note default_exits[] = {
	{ "0", "everything was read and written" },
	{ "1", "the output is complete, but part of the input was damaged: see its errors" },
	{ "2", "the command line is wrong" },
	{ "3", "the input can't be opened or is not of the expected kind" },
	{ "4", "the output could not be written" },
	{ NULL, NULL }
};

const struct cli_note *cli_exits(const struct cli_tool *tool)
{
	return tool->exits ? tool->exits : default_exits;
}

bool cli_takes_value(const struct cli_option *o)
{
	switch (o->kind) {
	case CLI_KIND_STRING:
	case CLI_KIND_LIST:
	case CLI_KIND_NUMBER:
	case CLI_KIND_SIZE:
	case CLI_KIND_CHOICE:
	case CLI_KIND_COMPLETION:
		return true;
	default:
		return false;
	}
}

bool cli_is_shown(const struct cli_option *o)
{
	return o->kind != CLI_KIND_GROUP && o->kind != CLI_KIND_REFUSED;
}

const char *cli_value(const struct cli_option *o, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	if (o->value || !o->choices) {
		snprintf(buf, size, "%s", o->value ? o->value : "");
		return buf;
	}
	for (size_t i = 0; o->choices[i] && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? "|" : "",
					 o->choices[i]);
	return buf;
}

const char *cli_spelling(const struct cli_option *o, char *buf, size_t size)
{
	bool both = o->kind == CLI_KIND_SWITCH && strncmp(o->name, "no-", 3) != 0;
	bool optional = o->kind == CLI_KIND_OPTIONAL;
	char value[CLI_SPELLING_MAX];
	char letter[8] = "    ";

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	cli_value(o, value, sizeof(value));
	snprintf(buf, size, "%s--%s%s%s%s%s", letter, both ? "[no-]" : "", o->name,
		 optional ? "[=" : o->bare ? " [" : value[0] ? " " : "", value, o->bare ? "]" : "");
	return buf;
}

enum { NAME_MAX_LENGTH = 100 };

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t cli_distance(const char *name, const char *given, size_t length)
{
	size_t row[NAME_MAX_LENGTH + 1];

	if (length > NAME_MAX_LENGTH)
		return SIZE_MAX;

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; name[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			size_t change = corner + (name[i] != given[j]);

			corner = row[j + 1];
			row[j + 1] = smaller_of(change, smaller_of(row[j], row[j + 1]) + 1);
		}
	}
	return row[length];
}

static const struct cli_option *nearest_of(const struct cli_option *o, const char *name,
					   size_t length, size_t *best)
{
	const struct cli_option *found = NULL;

	for (; o->kind != CLI_KIND_END; o++) {
		size_t d;

		if (!o->name || !cli_is_shown(o))
			continue;
		d = cli_distance(o->name, name, length);
		if (length >= 2 && strncmp(o->name, name, length) == 0)
			d = 1;	/* a prefix is always similar */
		if (d < *best) {
			*best = d;
			found = o;
		}
	}
	return found;
}

const struct cli_option *cli_nearest(const struct cli_tool *tool, const char *name, size_t length)
{
	size_t best = length <= 3 ? 2 : 3;	/* names at this distance are not similar */
	const struct cli_option *own;
	const struct cli_option *builtin;

	if (length > NAME_MAX_LENGTH)
		return NULL;
	own = nearest_of(tool->options, name, length, &best);
	builtin = nearest_of(cli_builtin, name, length, &best);
	return builtin ? builtin : own;
}

static const char *other_name(const struct cli_tool *tool, const struct cli_option *o,
			      const char *word)
{
	for (const struct cli_values *v = tool->values; v && v->option; v++)
		for (const struct cli_note *n = v->others; n && n->name; n++)
			if (o->name && strcmp(v->option, o->name) == 0 &&
			    strcmp(n->name, word) == 0)
				return n->text;
	return NULL;
}

const char *cli_nearest_word(const struct cli_tool *tool, const struct cli_option *o,
			     const char *word)
{
	const size_t length = strlen(word);
	const size_t limit = length <= 5 ? 2 : 3;	/* words at this distance are not similar */
	const char *other = other_name(tool, o, word);

	if (other || length < 2)
		return other;
	for (size_t i = 0; o->choices[i]; i++)
		if (strncmp(o->choices[i], word, length) == 0)
			return o->choices[i];
	for (size_t i = 0; o->choices[i]; i++)
		if (cli_distance(o->choices[i], word, length) < limit)
			return o->choices[i];
	return NULL;
}
