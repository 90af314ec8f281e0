/* pquery_operands.c - the operands of pquery: see pquery_operands.h. */
#include "pquery/pquery_operands.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pquery/pquery_prompt.h"

static bool is_like_path(const char *operand)
{
	return operand[0] == '.' || (operand[0] == '/' && operand[1] != '*');
}

/* A name of a file that is missing should not be taken for SQL, nor SQL for a file. */
static bool is_sql(const char *operand)
{
	return prompt_is_command(operand) ||
	       (strpbrk(operand, " \t\n") && !is_like_path(operand) &&
		access(operand, F_OK) != 0);
}

/* Returns whether an operand after a command is its argument, the name of a table: one that is no
 * name of a file is most likely meant so. */
static bool is_argument(const char *command, const char *operand)
{
	return strcmp(command, ".schema") == 0 && operand && access(operand, F_OK) != 0 &&
	       !strpbrk(operand, "/.");
}

/* Returns the length of the word that begins a query, 0 if the text is none. */
static size_t query_word(const char *text)
{
	static const char *const words[] = { "select", "with", "values", "explain" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t n = strlen(words[i]);

		if (sqlite3_strnicmp(text, words[i], (int)n) == 0 && strchr(" \t\n", text[n]))
			return n;
	}
	return 0;
}

/* Returns whether the text looks like a command of the prompt. */
static bool is_wrong_command(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

	return text[0] == '.' && text[1] && !text[1 + strspn(text + 1, letters)];
}

/* Checks that no input is SQL that stands elsewhere, or not in quotes, or a command. */
static enum cli_exit check_operands(char *const *operands)
{
	if (operands[0] && is_wrong_command(operands[0]) && access(operands[0], F_OK) != 0)
		return cli_usage(&pquery, "no command '%s' and no such file: 'pquery .help' lists "
				 "the commands", operands[0]);
	for (size_t i = 0; operands[i]; i++) {
		const size_t n = query_word(operands[i]);

		if (!*operands[i])
			return cli_usage(&pquery, "an operand is empty: neither SQL nor a FILE");
		if (n && access(operands[i], F_OK) != 0)
			return cli_usage(&pquery, operands[i][n] ? "the SQL comes before the FILE" :
					 "the SQL must be one argument, in quotes");
	}
	return CLI_OK;
}

/* Takes the SQL off the words, and with a command its argument. Returns the words that remain. */
static char **take_sql(struct operands *o, char **words)
{
	if (!words[0] || !is_sql(words[0]))
		return words;
	o->sql = *words++;
	if (is_argument(o->sql, words[0])) {
		snprintf(o->command, sizeof(o->command), "%s %s", o->sql, *words++);
		o->sql = o->command;
	}
	return words;
}

/* Sets the inputs: the words, or else the default, which commands of the prompt do without. */
static enum cli_exit choose_inputs(struct operands *o, char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	o->inputs = calloc(n ? n : 1, sizeof(*o->inputs));
	if (!o->inputs) {
		cli_error(&pquery, "out of memory");
		return CLI_OUTPUT;
	}
	for (size_t i = 0; i < n; i++)
		input_choose(&o->inputs[i], words[i]);
	o->nr_inputs = n;
	if (!n && !(o->sql && prompt_is_command(o->sql)))
		input_choose(&o->inputs[o->nr_inputs++], NULL);
	return CLI_OK;
}

enum cli_exit operands_sort(struct operands *o, const struct settings *s, char **words)
{
	enum cli_exit status;
	bool reads_sql;

	words = take_sql(o, words);
	reads_sql = !o->sql && !s->save;	/* from standard input */
	if (!o->sql && check_operands(words) != CLI_OK)
		return CLI_USAGE;
	if (s->save && o->sql)
		return cli_usage(&pquery, "'--save' writes all tables: it takes no SQL");
	if (!words[0] && reads_sql && !isatty(STDIN_FILENO))
		return cli_usage(&pquery, "standard input has the SQL: name the FILE");
	status = choose_inputs(o, words);
	if (status != CLI_OK)
		return status;
	for (size_t i = 0; i < o->nr_inputs && reads_sql; i++)
		if (strcmp(o->inputs[i].path, "-") == 0)
			return cli_usage(&pquery, "standard input has the SQL: it can't be the "
					 "recording, too");
	if (s->symbols.file && o->nr_inputs > 1)
		return cli_usage(&pquery, "'--symbols-file' has the names of one recording, not of "
				 "%zu", o->nr_inputs);
	return CLI_OK;
}
