/* pquery_prompt.c - statements and commands that are read from standard input. */
#include "pquery/pquery_prompt.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "database.h"
#include "process/sigint.h"
#include "values.h"

static const struct cli_note examples[] = {
	{ "Which programs took the time?",
	  "select comm, count(*) as samples, sum(period) as period\n"
	  "from samples group by comm order by period desc;" },
	{ "In which files and libraries?",
	  "select path, count(*) as samples from samples join frames using (frame)\n"
	  "left join objects using (object) group by path order by samples desc;" },
	{ "At which offsets of them?",
	  "select path, printf('0x%x', frames.offset) as place, count(*) as samples\n"
	  "from samples join frames using (frame) join objects using (object)\n"
	  "group by 1, 2 order by samples desc limit 10;" },
	{ "Which files were on the stack, whoever they called?",
	  "with counted as (select stack, count(*) as n from samples group by stack),\n"
	  "     placed as (select distinct stack, n, object from counted\n"
	  "                join stack_frames using (stack) join frames using (frame))\n"
	  "select path, sum(n) as samples from placed join objects using (object)\n"
	  "group by path order by samples desc;" },
	{ "When was it busy? Samples in each 100 ms",
	  "select (time - (select first_time from files)) / 100000000 as tenth,\n"
	  "       count(*) as samples from samples group by tenth order by tenth;" },
	{ "Which programs were started?",
	  "select comm, pid, start from tasks where execs > 0 order by start;" },
	{ "Is the recording complete?",
	  "select samples, lost, lost_samples, throttled, errors, status from files;" },
	{ NULL, NULL }
};

static void print(const struct prompt *p, const char *text)
{
	output_write(p->out, text, strlen(text));
}

/* --- commands --- */

static void print_column(const struct prompt *p, const struct pc_table *t, size_t column)
{
	const struct pc_column *c = &t->columns[column];
	char name[PQ_NAME_SIZE], line[256];
	const int n = snprintf(line, sizeof(line), "    \"%s\" %s%s",
			       pq_column_name(t, column, name), pq_type_name(c),
			       column + 1 == t->nr_columns ? "" : ",");

	snprintf(line + n, sizeof(line) - (size_t)n, "%*s -- %s%s\n", n < 32 ? 32 - n : 0, "",
		 c->doc, pq_is_hidden(c) ? "; not in *" : "");
	print(p, line);
}

static enum cli_exit print_schema(const struct prompt *p, const char *name)
{
	const struct pc_table *t;
	bool is_found = false;

	for (size_t i = 0; (t = pq_table_at(i)) != NULL; i++) {
		if (*name && strcmp(name, t->name) != 0)
			continue;
		print(p, is_found ? "\nCREATE TABLE " : "CREATE TABLE ");
		print(p, t->name);
		print(p, " (    -- ");
		print(p, t->doc);
		print(p, "\n    \"file\" TEXT,                 -- name of the input; in * if "
		      "there are several\n");
		for (size_t k = 0; k < t->nr_columns; k++)
			print_column(p, t, k);
		print(p, ");\n");
		is_found = true;
	}
	if (is_found)
		return CLI_OK;
	cli_error(p->tool, "no table '%s': see .tables", name);
	return CLI_USAGE;
}

static enum cli_exit print_tables(const struct prompt *p, const char *argument)
{
	char line[256];

	(void)argument;
	for (size_t i = 0; pq_table_at(i); i++) {
		snprintf(line, sizeof(line), "%-14s%s\n", pq_table_at(i)->name,
			 pq_table_at(i)->doc);
		print(p, line);
	}
	return CLI_OK;
}

static enum cli_exit print_examples(const struct prompt *p, const char *argument)
{
	(void)argument;
	for (const struct cli_note *e = examples; e->name; e++) {
		print(p, e == examples ? "-- " : "\n-- ");
		print(p, e->name);
		print(p, "\n");
		print(p, e->text);
		print(p, "\n");
	}
	return CLI_OK;
}

static enum cli_exit print_help(const struct prompt *p, const char *argument)
{
	(void)argument;
	print(p, ".tables           the tables\n"
	      ".schema [TABLE]   their columns\n"
	      ".examples         questions and their SQL\n"
	      ".quit, .exit      the end, as Ctrl-D\n"
	      "Ctrl-C            ends the statement that runs, or drops one that was begun\n"
	      "Everything else is SQL, which ends with a semicolon.\n");
	return CLI_OK;
}

static const struct command {
	const char *name;
	enum cli_exit (*run)(const struct prompt *p, const char *argument);
} commands[] = {
	{ ".tables", print_tables }, { ".schema", print_schema }, { ".examples", print_examples },
	{ ".help", print_help },
};

static const struct command *find_command(const char *text)
{
	const size_t n = strcspn(text, " \t\n;");

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strlen(commands[i].name) == n && memcmp(commands[i].name, text, n) == 0)
			return &commands[i];
	return NULL;
}

bool prompt_is_command(const char *text)
{
	return find_command(text) != NULL;
}

enum cli_exit prompt_command(const struct prompt *p, const char *text)
{
	const struct command *c = find_command(text);
	char argument[64];
	const char *rest;
	size_t n;

	if (!c) {
		cli_error(p->tool, "no command '%.*s': see .help",
			  (int)strcspn(text, " \t\n;"), text);
		return CLI_USAGE;
	}
	rest = text + strlen(c->name);
	rest += strspn(rest, " \t\n;");
	n = strcspn(rest, " \t\n;");
	snprintf(argument, sizeof(argument), "%.*s", n < sizeof(argument) ? (int)n : 0, rest);
	return c->run(p, argument);
}

/* --- reading --- */

/* Text of a statement that is not complete. */
struct input_text {
	char *text;
	size_t size;
};

static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t\r\n;")];
}

/* Returns the first byte that is in no comment, and no blank. A comment that has no end yet is part
 * of a statement. */
static const char *skip_comments(const char *text)
{
	for (;;) {
		const char *end;

		text += strspn(text, " \t\r\n;");
		if (strncmp(text, "--", 2) == 0)
			end = strchr(text, '\n');
		else
			end = strncmp(text, "/*", 2) == 0 ? strstr(text + 2, "*/") : NULL;
		if (!end)
			return text;
		text = end + (*end == '*' ? 2 : 1);
	}
}

static enum cli_exit append_line(const struct prompt *p, struct input_text *t, const char *line)
{
	const size_t n = strlen(line);
	char *more = realloc(t->text, t->size + n + 1);

	if (!more) {
		cli_error(p->tool, "out of memory");
		return CLI_OUTPUT;
	}
	memcpy(more + t->size, line, n + 1);
	t->text = more;
	t->size += n;
	return CLI_OK;
}

static void drop_text(struct input_text *t)
{
	t->size = 0;
	t->text[0] = '\0';
}

static enum cli_exit run_text(const struct prompt *p, struct input_text *t)
{
	enum cli_exit status;

	sigint_clear();
	status = p->run(p->ctx, t->text);
	drop_text(t);
	return status;
}

/* Returns whether the line has this word alone. */
static bool is_word(const char *line, const char *word)
{
	const size_t n = strlen(word);

	return strncmp(line, word, n) == 0 && is_blank(line + n);
}

/* Returns the command of a line that begins no SQL, without the blanks before it, or NULL. No SQL
 * begins with `help`. */
static const char *command_of(const struct input_text *t, const char *line)
{
	line += strspn(line, " \t");
	if (t->size)
		return NULL;
	return is_word(line, "help") ? ".help" : line[0] == '.' ? line : NULL;
}

static enum cli_exit take_line(const struct prompt *p, struct input_text *t, const char *line)
{
	const char *command = command_of(t, line);
	enum cli_exit status;

	if (command)
		return prompt_command(p, command);
	status = append_line(p, t, line);
	if (status == CLI_OK && !*skip_comments(t->text))
		drop_text(t);
	if (status != CLI_OK || !t->size || !sqlite3_complete(t->text))
		return status;
	return run_text(p, t);
}

static bool is_end(const struct input_text *t, const char *line)
{
	line += strspn(line, " \t");
	line += line[0] == '.';
	return !t->size && (is_word(line, "quit") || is_word(line, "exit"));
}

static bool is_at_terminal(const struct prompt *p)
{
	return isatty(STDIN_FILENO) && output_is_terminal(p->out);
}

static void show_prompt(const struct prompt *p, const struct input_text *t)
{
	if (is_at_terminal(p))
		print(p, t->size ? "   ...> " : "pquery> ");
	output_flush(p->out);
}

/* Reads a line. Ctrl-C drops the statement that was begun. Returns false at the end. */
static bool read_line(const struct prompt *p, struct input_text *t, char **line, size_t *capacity)
{
	for (;;) {
		show_prompt(p, t);
		if (getline(line, capacity, stdin) >= 0)
			return !is_end(t, *line);
		if (!sigint_is_noted())
			return false;
		sigint_clear();
		clearerr(stdin);
		t->size = 0;
		print(p, "\n");
	}
}

enum cli_exit prompt_read(const struct prompt *p)
{
	const bool is_terminal = is_at_terminal(p);
	struct input_text t = { NULL, 0 };
	enum cli_exit status = CLI_OK;
	size_t capacity = 0;
	char *line = NULL;

	if (is_terminal) {
		sigint_note();
		print(p, "SQL ends with a semicolon; .help lists the commands\n");
	}
	while (read_line(p, &t, &line, &capacity)) {
		status = take_line(p, &t, line);
		if (status != CLI_OK && !is_terminal)
			break;
		if (p->out->error)
			break;
	}
	if (is_terminal)
		print(p, "\n");
	/* the last statement of a script needs no semicolon */
	if (status == CLI_OK && t.size)
		status = p->run(p->ctx, t.text);
	free(line);
	free(t.text);
	return is_terminal ? CLI_OK : status;
}
