/* pquery - SQL over perf.data files. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/build.h"
#include "cli/cli.h"
#include "counts.h"
#include "database.h"
#include "files/input.h"
#include "files/input_errors.h"
#include "files/max_output.h"
#include "files/output.h"
#include "recording/history.h"
#include "pquery/pquery_names.h"
#include "pquery/pquery_prompt.h"
#include "pquery/pquery_rows.h"
#include "pquery/pquery_save.h"
#include "process/progress.h"
#include "process/sigint.h"
#include "process/sigbus.h"
#include "sandbox/sandbox.h"

enum { ERRORS_SHOWN = 5, DEFAULT_MEMORY = 256 << 20 };

struct settings {
	const char *output, *save, *max_output, *sandbox;
	unsigned int format;
	uint64_t memory;
	unsigned int jobs;
	bool has_names, verbose;
	struct symbol_settings symbols;
};

static const struct cli_option options[] = {
	CLI_GROUP("Output"),
	CLI_CHOICE('f', "format", NULL, settings, format, rows_words,
		   "table: aligned columns; csv: with a heading, NULL is empty; json: an array "
		   "with an object for each row (default table)"),
	CLI_STRING('o', "output", "FILE", settings, output,
		   "write to FILE (default: standard output)"),
	CLI_STRING(0, "save", "FILE", settings, save,
		   "write all tables to FILE, a SQLite database; takes no SQL"),
	CLI_GROUP("Names"),
	CLI_FLAG(0, "symbols", settings, has_names,
		 "fill the table symbols with the functions of each frame, and unwind copied "
		 "stacks; opens the mapped files on this machine"),
	CLI_FLAG(0, "lines", settings, symbols.lines, "add source files and lines, too"),
	CLI_FLAG(0, "no-inline", settings, symbols.no_inline,
		 "no functions that are inlined: reads no debug information"),
	SYMBOL_FILE_OPTIONS(settings, symbols),
	CLI_GROUP("Limits and messages"),
	CLI_NUMBER('j', "jobs", "N", settings, jobs,
		   "read rows in groups with N threads, at most 16 (default and 0: one per CPU); "
		   "the output is the same"),
	CLI_SIZE(0, "memory", "SIZE", settings, memory,
		 "keep at most SIZE of each input in memory, and as much for sorting and "
		 "grouping, such as 1G (default 256M)"),
	MAX_OUTPUT_OPTION(settings, max_output),
	SANDBOX_OPTION(settings),
	CLI_FLAG('v', "verbose", settings, verbose, "show every error of the input"),
	CLI_END
};

static const struct cli_note examples[] = {
	{ "pquery \"select comm, count(*) from samples group by comm\" perf.data",
	  "Which programs were running?" },
	{ "pquery -f csv \"select time, pid, comm from samples\" perf.data > samples.csv",
	  "For a spreadsheet." },
	{ "pquery \"select file, count(*) from samples group by file\" *.data",
	  "Several recordings at once." },
	{ "pquery --symbols \"select function, count(*) as n from samples join symbols using "
	  "(frame) where depth = 0 group by function order by n desc\" perf.data",
	  "Functions that took the time, first the worst." },
	{ "pquery --save tables.db perf.data", "All tables, for sqlite3 and other programs." },
	{ "pquery .schema samples", "The columns of a table; .schema alone: of all." },
	{ "pquery perf.data", "A prompt, with .tables, .schema and .examples." },
	{ NULL, NULL }
};

static const struct cli_note exits[] = {
	{ "0", "success" },
	{ "1", "parts of an input are damaged: the answer is of the rest" },
	{ "2", "the command line or the SQL is wrong" },
	{ "3", "an input can't be opened or is no perf.data file" },
	{ "4", "the output could not be written, or memory is short" },
	{ NULL, NULL }
};

static const struct cli_tool tool = {
	.name = "pquery", .version = PD_VERSION, .build = BUILD_LINES_SANDBOXED,
	.summary = "Ask perf.data files in SQL.",
	.description =
		"pquery answers SQL queries over recordings, without loading them first. The "
		"first operand is the SQL if it is no file and has a blank, or is a command of "
		"the prompt; all others are inputs. Without SQL, it is read from standard input, "
		"at a prompt if that is a terminal.\n\n"
		"The tables are those of pdecode -f parquet: samples, stacks, frames, objects, "
		"maps, tasks, comms, switches, cgroups, namespaces, lost, events, features, "
		"records, errors, symbols (with --symbols) and files. A sample refers to its "
		"stack and frame, a frame to an object and an offset in it. stack_frames has a "
		"row for each entry of each stack. Lists are JSON texts: json_each() takes them "
		"apart. With several inputs each table has a column file (the source file of "
		"symbols is source_file), and the numbers of stacks, frames, objects and events "
		"differ from input to input, so that rows of two inputs never match.\n\n"
		"Times are ns. Addresses are 64-bit integers of the same bits, so those of the "
		"kernel are negative: printf('0x%x', addr) shows them. `select *` leaves out "
		"columns that are seldom needed: file_id, and those of samples that pdecode "
		"--with adds, such as addr, ip and branch.\n\n"
		"The dialect is SQLite's. Only queries are allowed. Each scan of a table reads "
		"the input again; conditions on time, pid, tid, cpu, comm and event_name of "
		"samples are checked early, tables that are joined by a number stay in memory, as "
		"do the columns of rows in groups. "
		"For many queries over one large recording, pdecode -f parquet and a column "
		"store are faster.\n\n"
		INPUT_DESCRIPTION "\n\n" SANDBOX_DESCRIPTION,
	.usage = "[SQL] [FILE...|-]", .operand_note = INPUT_NOTE, .operands = CLI_MANY,
	.options = options, .examples = examples, .exits = exits,
	.see_also = "pdecode(1), preport(1), sqlite3(1)",
};

enum { STEPS_TO_INTERRUPT = 10000 };	/* of SQLite's machine, some 0.1 ms */

struct run {
	const struct settings *s;
	struct max_output max_output;
	const char *sql;		/* NULL: from standard input */
	char command[128];		/* `sql` with its argument, if that is an operand */
	struct input *inputs;
	size_t nr_inputs;
	struct output out;
	struct save save;
	struct rows rows;
	struct progress progress;
	uint64_t done;			/* bytes of the pass */
	struct pq_database database;
	struct query_names names;
	sqlite3 *db;
	struct input_errors errors;
};

/* --- messages --- */

static void on_error(void *ctx, const char *name, const struct pd_error *e)
{
	struct run *run = ctx;

	progress_clear(&run->progress);
	input_errors_add(&run->errors, name, e);
}

static void on_progress(void *ctx, uint64_t bytes, uint64_t total)
{
	struct run *run = ctx;

	if (bytes < run->done)		/* the next pass */
		run->progress.next = 0;
	run->done = bytes;
	run->progress.total = total;
	progress_update(&run->progress, bytes);
}

/* Ctrl-C at the prompt ends the statement. */
static bool is_interrupted(void *ctx)
{
	(void)ctx;
	return sigint_is_noted();
}

static int stop_if_interrupted(void *ctx)
{
	return is_interrupted(ctx);
}

/* Rows on a terminal take the place of the progress. */
static void before_rows(void *ctx)
{
	struct run *run = ctx;

	if (output_is_terminal(&run->out))
		progress_end(&run->progress);
	else
		progress_clear(&run->progress);
}

static enum cli_exit print_error(const struct input *in, const struct pd_error *e)
{
	char text[512];

	if ((e->code == PD_E_LIMIT && !e->text) || e->code == PD_E_NOMEM) {
		cli_error(&tool, "%s: needs more memory: see --memory", in->name);
		return CLI_OUTPUT;
	}
	cli_error(&tool, "%s: %s%s", in->name, pd_error_text(e, text, sizeof(text)), in->hint);
	return CLI_INPUT;
}

/* --- queries --- */

/* Returns what follows a message of SQLite. */
static const char *hint_of(const char *text)
{
	static const struct {
		const char *begin, *hint;
	} hints[] = {
		{ "no such table", "; .tables lists them" },
		{ "no such column", "; .schema lists them" },
		{ "incomplete input", ": the SQL ends too early" },
	};

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (strncmp(text, hints[i].begin, strlen(hints[i].begin)) == 0)
			return hints[i].hint;
	return "";
}

static enum cli_exit fail_query(struct run *run, int code)
{
	const char *text = sqlite3_errmsg(run->db);

	progress_clear(&run->progress);
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		cli_error(&tool, "the query needs more memory: see --memory");
		return CLI_OUTPUT;
	case SQLITE_AUTH:
		cli_error(&tool, "the tables can only be read: SELECT, WITH, VALUES and EXPLAIN "
			  "are allowed");
		return CLI_USAGE;
	default:
		cli_error(&tool, "%s%s", text, hint_of(text));
		return CLI_USAGE;
	}
}

static enum cli_exit run_statement(struct run *run, sqlite3_stmt *statement)
{
	int code = SQLITE_DONE, failed = rows_begin(&run->rows, statement);

	progress_start(&run->progress, 0);
	while (!failed && (code = sqlite3_step(statement)) == SQLITE_ROW)
		failed = rows_add(&run->rows);
	before_rows(run);
	failed |= rows_end(&run->rows, !failed && code == SQLITE_DONE);
	if (run->out.error)
		return CLI_OUTPUT;
	if (failed) {
		cli_error(&tool, "out of memory");
		return CLI_OUTPUT;
	}
	return code == SQLITE_DONE ? CLI_OK : fail_query(run, code);
}

static enum cli_exit run_sql(void *ctx, const char *sql)
{
	struct run *run = ctx;
	enum cli_exit status = CLI_OK;
	sqlite3_stmt *statement;

	while (*sql && status == CLI_OK) {
		int code;

		pq_counts_begin(&run->database);
		code = sqlite3_prepare_v2(run->db, sql, -1, &statement, &sql);
		if (code != SQLITE_OK)
			return fail_query(run, code);
		if (statement)		/* else a comment, or nothing */
			pq_counts_end(&run->database, sqlite3_sql(statement));
		if (statement)
			status = run_statement(run, statement);
		sqlite3_finalize(statement);
	}
	return status;
}

static bool is_denied(const char *function)
{
	static const char *const names[] = { "load_extension", "fts3_tokenizer", "edit",
					     "readfile", "writefile" };

	for (size_t i = 0; function && i < sizeof(names) / sizeof(names[0]); i++)
		if (sqlite3_stricmp(function, names[i]) == 0)
			return true;
	return false;
}

static int authorize(void *ctx, int action, const char *a, const char *b, const char *schema,
		     const char *trigger)
{
	struct run *run = ctx;

	(void)schema;
	(void)trigger;
	pq_counts_note(&run->database, action, a, b);
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return is_denied(b) ? SQLITE_DENY : SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

/* --- inputs --- */

static enum cli_exit copy_stream(struct input *in)
{
	char text[512];
	struct pd_error e;
	const int fd = pd_stream_copy(in->fd, &e);

	if (fd < 0) {
		cli_error(&tool, "%s: can't be copied to a temporary file, to be read twice: %s",
			  in->name, pd_error_text(&e, text, sizeof(text)));
		return CLI_INPUT;
	}
	input_close(in);
	in->fd = fd;
	return CLI_OK;
}

static unsigned int thread_count(const struct settings *s)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (s->jobs)
		return s->jobs;
	return cpus < 1 ? 1 : (unsigned int)cpus;
}

static enum cli_exit add_input(struct run *run, struct input *in)
{
	struct pq_input input = {
		.name = in->name, .memory = run->s->memory,
		.max_expanded = run->max_output.bytes, .max_ratio = run->max_output.ratio,
		.access = PD_MAP_OWN, .threads = thread_count(run->s),
		.watch = { on_error, on_progress, is_interrupted, run },
	};
	enum cli_exit status = history_needs_copy(in) ? copy_stream(in) : CLI_OK;
	struct pq_recording *r;
	struct pd_error e;

	if (status != CLI_OK)
		return status;
	input.fd = in->fd;
	progress_start(&run->progress, 0);
	r = pq_database_add(&run->database, &input, &e);
	if (!r)
		return print_error(in, &e);
	return run->s->has_names ?
		query_names_open(&run->names, &tool, &run->s->symbols, in, r) : CLI_OK;
}

/* Makes a virtual table, which its first use does. Returns SQLITE_OK or another code. */
static int make_table(struct run *run, const char *name)
{
	sqlite3_stmt *statement;
	char sql[128];
	int code;

	snprintf(sql, sizeof(sql), "select 1 from \"%s\"", name);
	code = sqlite3_prepare_v2(run->db, sql, -1, &statement, NULL);
	sqlite3_finalize(statement);
	return code;
}

/* Makes the tables, before the authorizer denies that. Returns SQLITE_OK or another code. */
static int make_tables(struct run *run)
{
	int code = pq_register(run->db, &run->database);

	if (code == SQLITE_OK)
		code = pq_register_counts(run->db, &run->database);
	for (size_t i = 0; code == SQLITE_OK && pq_table_at(i); i++)
		code = make_table(run, pq_table_at(i)->name);
	/* SQLite's own, if it has them */
	make_table(run, "json_each");
	make_table(run, "json_tree");
	sqlite3_progress_handler(run->db, STEPS_TO_INTERRUPT, stop_if_interrupted, NULL);
	return code == SQLITE_OK ? sqlite3_set_authorizer(run->db, authorize, run) : code;
}

static enum cli_exit add_inputs(struct run *run)
{
	enum cli_exit status = CLI_OK;

	for (size_t i = 0; i < run->nr_inputs && status == CLI_OK; i++)
		status = add_input(run, &run->inputs[i]);
	progress_clear(&run->progress);
	if (status != CLI_OK || make_tables(run) == SQLITE_OK)
		return status;
	cli_error(&tool, "SQLite can't be started: %s", sqlite3_errmsg(run->db));
	return CLI_OUTPUT;
}

/* Checks the first statement, before an older output is emptied. */
static enum cli_exit check_sql(struct run *run)
{
	sqlite3_stmt *statement;
	int code;

	if (!run->sql || prompt_is_command(run->sql))
		return CLI_OK;
	code = sqlite3_prepare_v2(run->db, run->sql, -1, &statement, NULL);
	sqlite3_finalize(statement);
	return code == SQLITE_OK ? CLI_OK : fail_query(run, code);
}

static enum cli_exit save_tables(struct run *run)
{
	int code = sqlite3_set_authorizer(run->db, NULL, NULL);

	if (code == SQLITE_OK)
		code = save_attach(&run->save, run->db);
	for (size_t i = 0; code == SQLITE_OK && pq_table_at(i); i++) {
		progress_start(&run->progress, 0);
		code = save_table(run->db, pq_table_at(i)->name);
	}
	progress_end(&run->progress);
	if (code == SQLITE_OK)
		return CLI_OK;
	if (!run->save.error)
		return fail_query(run, code);
	cli_error(&tool, "%s: %s", run->out.name, strerror(run->save.error));
	return CLI_OUTPUT;
}

static enum cli_exit run_queries(struct run *run)
{
	const struct prompt prompt = { &tool, &run->out, run_sql, run };

	if (run->s->save)
		return save_tables(run);
	if (!run->sql)
		return prompt_read(&prompt);
	if (prompt_is_command(run->sql))
		return prompt_command(&prompt, run->sql);
	return run_sql(run, run->sql);
}

/* Runs in the sandbox. */
static enum cli_exit query(void *ctx)
{
	struct run *run = ctx;
	enum cli_exit status;
	struct pd_error e;

	sigbus_watch();
	status = add_inputs(run);
	if (status == CLI_OK)
		status = check_sql(run);
	if (status == CLI_OK)
		status = output_truncate(&run->out);
	if (status == CLI_OK)
		status = run_queries(run);
	if (run->nr_inputs && sigbus_lost_bytes(&e))
		on_error(run, run->nr_inputs == 1 ? run->inputs->name : "an input", &e);
	if (status == CLI_OK && run->errors.nr)
		status = CLI_ERRORS;
	sqlite3_close_v2(run->db);
	save_close(&run->save);
	pq_database_free(&run->database);
	query_names_close(&run->names);
	return output_close(&run->out, status);
}

/* --- start --- */

/* Opens the database, before the sandbox closes the files that it looks for. */
static enum cli_exit open_database(struct run *run)
{
	char random;

	tzset();
	sqlite3_hard_heap_limit64((sqlite3_int64)(run->s->memory ? run->s->memory :
						  DEFAULT_MEMORY));
	/* A database that is attached gets the same flags. */
	if (sqlite3_open_v2(":memory:", &run->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI,
			    NULL) != SQLITE_OK ||
	    sqlite3_exec(run->db, "pragma temp_store = memory", NULL, NULL, NULL) != SQLITE_OK) {
		cli_error(&tool, "SQLite can't be started: %s", sqlite3_errmsg(run->db));
		return CLI_OUTPUT;
	}
	sqlite3_randomness(sizeof(random), &random);
	sqlite3_db_config(run->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return CLI_OK;
}

static enum cli_exit open_input(struct run *run, struct input *in)
{
	if (input_open(in, &tool)) {
		cli_error(&tool, "%s: %s%s", in->name, strerror(errno), in->hint);
		return CLI_INPUT;
	}
	if (in->fd < 0 && run->nr_inputs > 1) {
		cli_error(&tool, "%s: is a directory, which must be the only input", in->name);
		return CLI_USAGE;
	}
	return CLI_OK;
}

static enum cli_exit open_output(struct run *run)
{
	const char *path = run->s->save ? run->s->save : run->s->output;
	const enum cli_exit status = output_open(&run->out, &tool, path,
						 run->nr_inputs ? run->inputs[0].path : NULL);

	if (status != CLI_OK || !run->s->save || !save_open(&run->save, run->out.fd))
		return status;
	cli_error(&tool, "%s: %s", run->out.name,
		  errno == EINVAL ? "a database needs a regular file" :
		  errno == EEXIST ? "this file is not a SQLite database: it is not replaced" :
		  strerror(errno));
	return CLI_OUTPUT;
}

static enum cli_exit open_files(struct run *run)
{
	enum cli_exit status = CLI_OK;

	for (size_t i = 0; i < run->nr_inputs && status == CLI_OK; i++)
		status = open_input(run, &run->inputs[i]);
	if (status == CLI_OK)
		status = open_output(run);
	return status == CLI_OK ? open_database(run) : status;
}

static enum cli_exit query_inputs(struct run *run)
{
	const struct input *first = run->inputs;
	const struct sandbox sandbox = {
		.tool = &tool, .word = run->s->sandbox, .verbose = run->s->verbose,
		.input = run->nr_inputs ? first->fd : STDIN_FILENO,
		.read_beneath = run->nr_inputs && first->fd < 0 ? first->path : NULL,
		.receive = run->s->has_names ? SANDBOX_RECEIVE_FILES : SANDBOX_RECEIVE_NOTHING,
		.tempfile = SANDBOX_TEMPFILE_ALWAYS,
	};
	const enum cli_exit status = run->s->has_names ?
		query_names_prepare(&run->names, &tool, &run->s->symbols, run->nr_inputs) : CLI_OK;

	if (status != CLI_OK) {
		sqlite3_close_v2(run->db);
		return status;
	}
	return sandbox_run(&sandbox, run->out.created ? SANDBOX_IN_CHILD : SANDBOX_IN_PROCESS,
			   query, run);
}

/* A name of a file that is missing should not be taken for SQL, nor SQL for a file. */
static bool is_sql(const char *operand)
{
	return prompt_is_command(operand) ||
	       (strpbrk(operand, " \t\n") && !strchr("/.", operand[0]) &&
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
		return cli_usage(&tool, "no command '%s' and no such file: 'pquery .help' lists "
				 "the commands", operands[0]);
	for (size_t i = 0; operands[i]; i++) {
		const size_t n = query_word(operands[i]);

		if (!*operands[i])
			return cli_usage(&tool, "an operand is empty: neither SQL nor a FILE");
		if (n && access(operands[i], F_OK) != 0)
			return cli_usage(&tool, operands[i][n] ? "the SQL comes before the FILE" :
					 "the SQL must be one argument, in quotes");
	}
	return CLI_OK;
}

/* Sorts the operands. A command needs no input. */
static enum cli_exit choose_inputs(struct run *run, char **operands)
{
	size_t n = 0;

	if (operands[0] && is_sql(operands[0]))
		run->sql = *operands++;
	if (run->sql && is_argument(run->sql, operands[0])) {
		snprintf(run->command, sizeof(run->command), "%s %s", run->sql, *operands++);
		run->sql = run->command;
	}
	if (!run->sql && check_operands(operands) != CLI_OK)
		return CLI_USAGE;
	while (operands[n])
		n++;
	if (run->s->save && run->sql)
		return cli_usage(&tool, "'--save' writes all tables: it takes no SQL");
	if (!n && !run->sql && !run->s->save && !isatty(STDIN_FILENO))
		return cli_usage(&tool, "standard input has the SQL: name the FILE");
	run->inputs = calloc(n + 1, sizeof(*run->inputs));
	if (!run->inputs) {
		cli_error(&tool, "out of memory");
		return CLI_OUTPUT;
	}
	for (size_t i = 0; i < n + !n; i++)
		input_choose(&run->inputs[i], operands[i]);
	run->nr_inputs = n || !run->sql || !prompt_is_command(run->sql) ? n + !n : 0;
	for (size_t i = 0; i < run->nr_inputs && !run->sql && !run->s->save; i++)
		if (strcmp(run->inputs[i].path, "-") == 0)
			return cli_usage(&tool, "standard input has the SQL: it can't be the "
					 "recording, too");
	if (run->s->symbols.file && run->nr_inputs > 1)
		return cli_usage(&tool, "'--symbols-file' has the names of one recording, not of "
				 "%zu", run->nr_inputs);
	return CLI_OK;
}

static enum cli_exit check_save(const struct settings *s)
{
	if (s->save && (s->output || s->format != ROWS_TABLE))
		return cli_usage(&tool, "'--save' names the file of the database: '--%s' does not "
				 "apply", s->output ? "output" : "format");
	return CLI_OK;
}

static enum cli_exit check_names(const struct settings *s)
{
	if (!s->has_names && (s->symbols.lines || s->symbols.no_inline || s->symbols.file))
		return cli_usage(&tool, "'--%s' needs '--symbols'",
				 s->symbols.lines ? "lines" :
				 s->symbols.file ? "symbols-file" : "no-inline");
	return symbols_check(&s->symbols, &tool);
}

int main(int argc, char **argv)
{
	struct settings s = { .format = ROWS_TABLE };
	char **operands = cli_parse(&tool, argc, argv, &s);
	struct run run = { .s = &s, .out = OUTPUT_CLOSED, .save = { .fd = -1 },
			   .errors = { &tool, ERRORS_SHOWN, s.verbose, 0 } };
	enum cli_exit status = sandbox_check(&tool, s.sandbox);

	run.rows = (struct rows){ .format = (enum rows_format)s.format, .out = &run.out,
				  .before = before_rows, .ctx = &run };
	if (status == CLI_OK)
		status = check_names(&s);
	if (status == CLI_OK)
		status = check_save(&s);
	if (status == CLI_OK)
		status = max_output_read(&tool, s.max_output, &run.max_output);
	if (status == CLI_OK)
		status = choose_inputs(&run, operands);
	if (status == CLI_OK)
		status = open_files(&run);
	if (status == CLI_OK)
		status = query_inputs(&run);
	if (run.out.fd >= 0 && status > CLI_ERRORS)
		output_discard(&run.out);
	for (size_t i = 0; i < run.nr_inputs; i++)
		input_close(&run.inputs[i]);
	free(run.inputs);
	cli_list_free(&s.symbols.debug_dirs);
	return cli_finish(&tool, status);
}
