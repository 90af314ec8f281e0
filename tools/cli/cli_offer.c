/* cli_offer.c - the values that completion offers for an option. */
#include "cli/cli_offer.h"

#include <ctype.h>
#include <string.h>

enum { WORD_SIZE = 80 };

static const struct cli_values *values_of(const struct cli_tool *tool, const struct cli_option *o)
{
	for (const struct cli_values *v = tool->values; v && v->option; v++)
		if (o->name && strcmp(v->option, o->name) == 0)
			return v;
	return NULL;
}

static bool is_word_byte(char c)
{
	return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '_' || c == '-' ||
		c == ':';
}

/* Returns the next alternative of "fp|dwarf[,SIZE]|N" that begins with a word (fp, dwarf), or
 * NULL. */
static const char *next_alternative(const char **rest, size_t *length)
{
	while (*rest) {
		const char *at = *rest, *bar = strchr(at, '|');

		*rest = bar ? bar + 1 : NULL;
		for (*length = 0; is_word_byte(at[*length]); ++*length)
			;
		if (*length && islower((unsigned char)*at))
			return at;
	}
	return NULL;
}

static bool has_alternatives(const struct cli_option *o)
{
	const char *rest = o->value;
	size_t length;

	return next_alternative(&rest, &length) != NULL;
}

struct cli_offer cli_offer_for(const struct cli_tool *tool, const struct cli_option *o)
{
	const struct cli_values *v = values_of(tool, o);
	struct cli_offer offer = { .is_list = v && o->kind == CLI_KIND_LIST };

	if (v && v->command) {
		offer.kind = CLI_OFFER_COMMAND;
		offer.command = v->command;
	} else if (v || o->choices || has_alternatives(o)) {
		offer.kind = CLI_OFFER_WORDS;
	} else if (o->value && strncmp(o->value, "FILE", 4) == 0) {
		offer.kind = CLI_OFFER_FILES;
	} else if (o->value && strncmp(o->value, "DIR", 3) == 0) {
		offer.kind = CLI_OFFER_DIRS;
	} else if (o->value && strcmp(o->value, "USER") == 0) {
		offer.kind = CLI_OFFER_USERS;
	}
	return offer;
}

void cli_print_words(const struct cli_tool *tool, const struct cli_option *o, FILE *out)
{
	const struct cli_values *v = values_of(tool, o);
	const char *rest = v ? NULL : o->value, *word;
	char buf[WORD_SIZE];
	size_t length;

	for (size_t i = 0; o->choices && o->choices[i]; i++)
		fprintf(out, " %s", o->choices[i]);
	if (v && v->words)
		fprintf(out, " %s", v->words);
	for (size_t i = 0; v && v->word && (word = v->word(i, buf, sizeof(buf))); i++)
		fprintf(out, " %s", word);
	while (!o->choices && (word = next_alternative(&rest, &length)))
		fprintf(out, " %.*s", (int)length, word);
}
