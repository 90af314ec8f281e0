/* pquery_run.c - the queries of a run: see pquery_run.h. */
#include "pquery/pquery_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counts.h"
#include "pquery/pquery_prompt.h"
#include "process/sigbus.h"
#include "process/sigint.h"
#include "recording/history.h"

enum { STEPS_TO_INTERRUPT = 10000 };	/* of SQLite's machine, some 0.1 ms */

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
void run_before_rows(void *ctx)
{
	struct run *run = ctx;

	if (output_is_terminal(&run->out))
		progress_end(&run->progress);
	else
		progress_clear(&run->progress);
}

static enum cli_exit print_error(const struct run *run, const struct input *in,
				 const struct pd_error *e)
{
	char text[512];

	if ((e->code == PD_E_LIMIT && !e->text) || e->code == PD_E_NOMEM) {
		input_lacks_memory(&pquery, in->name, run->s->memory);
		return CLI_OUTPUT;
	}
	cli_error(&pquery, "%s: %s%s", in->name, pd_error_text(e, text, sizeof(text)), in->hint);
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

enum cli_exit run_report_start(const struct run *run)
{
	cli_error(&pquery, "SQLite can't be started: %s",
		  sqlite3_errcode(run->db) == SQLITE_NOMEM ? "it needs more memory: see --memory" :
		  sqlite3_errmsg(run->db));
	return CLI_OUTPUT;
}

static enum cli_exit fail_query(struct run *run, int code)
{
	const char *text = sqlite3_errmsg(run->db);

	progress_clear(&run->progress);
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		input_lacks_memory(&pquery, "the query", run->s->memory);
		return CLI_OUTPUT;
	case SQLITE_AUTH:
		cli_error(&pquery, "the tables can only be read: SELECT, WITH, VALUES and EXPLAIN "
			  "are allowed");
		return CLI_USAGE;
	default:
		cli_error(&pquery, "%s%s", text, hint_of(text));
		return CLI_USAGE;
	}
}

static enum cli_exit run_statement(struct run *run, sqlite3_stmt *statement)
{
	int code = SQLITE_DONE, failed = rows_begin(&run->rows, statement);

	progress_start(&run->progress, 0);
	while (!failed && (code = sqlite3_step(statement)) == SQLITE_ROW)
		failed = rows_add(&run->rows);
	run_before_rows(run);
	failed |= rows_end(&run->rows, !failed && code == SQLITE_DONE);
	if (run->out.error)
		return CLI_OUTPUT;
	if (failed) {
		cli_error(&pquery, "out of memory");
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
	enum cli_exit status = history_needs_copy(in) ? history_copy(&pquery, in) : CLI_OK;
	struct pq_recording *r;
	struct pd_error e;

	if (status != CLI_OK)
		return status;
	input.fd = in->fd;
	progress_start(&run->progress, 0);
	r = pq_database_add(&run->database, &input, &e);
	if (!r || (run->s->has_names && pq_recording_learn(r, &e)))
		return print_error(run, in, &e);
	return run->s->has_names ?
		query_names_open(&run->names, &pquery, &run->s->symbols, in, r) : CLI_OK;
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

	for (size_t i = 0; i < run->operands.nr_inputs && status == CLI_OK; i++)
		status = add_input(run, &run->operands.inputs[i]);
	progress_clear(&run->progress);
	if (status != CLI_OK || make_tables(run) == SQLITE_OK)
		return status;
	return run_report_start(run);
}

/* Checks the first statement, before an older output is emptied. */
static enum cli_exit check_sql(struct run *run)
{
	sqlite3_stmt *statement;
	int code;

	if (!run->operands.sql || prompt_is_command(run->operands.sql))
		return CLI_OK;
	code = sqlite3_prepare_v2(run->db, run->operands.sql, -1, &statement, NULL);
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
	cli_error(&pquery, "%s: %s", run->s->save, strerror(run->save.error));
	return CLI_OUTPUT;
}

static enum cli_exit run_queries(struct run *run)
{
	const struct prompt prompt = { &pquery, &run->out, run_sql, run };

	if (run->s->save)
		return save_tables(run);
	if (!run->operands.sql)
		return prompt_read(&prompt);
	if (prompt_is_command(run->operands.sql))
		return prompt_command(&prompt, run->operands.sql);
	return run_sql(run, run->operands.sql);
}

enum cli_exit run_in_sandbox(void *ctx)
{
	struct run *run = ctx;
	const struct operands *of = &run->operands;
	enum cli_exit status;
	struct pd_error e;

	sigbus_watch();
	status = add_inputs(run);
	if (status == CLI_OK)
		status = check_sql(run);
	if (status == CLI_OK && !run->s->save)
		status = output_truncate(&run->out);
	if (status == CLI_OK)
		status = run_queries(run);
	if (of->nr_inputs && sigbus_lost_bytes(&e))
		on_error(run, of->nr_inputs == 1 ? of->inputs->name : "an input", &e);
	if (query_names_report(&run->names, &pquery, of->inputs) && status == CLI_OK)
		status = CLI_ERRORS;
	if (status == CLI_OK && run->errors.nr)
		status = CLI_ERRORS;
	sqlite3_close_v2(run->db);
	save_close(&run->save);
	pq_database_free(&run->database);
	query_names_close(&run->names);
	return output_close(&run->out, status);
}
