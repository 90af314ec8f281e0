/* pquery - SQL over perf.data files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files/source.h"
#include "pquery/pquery_run.h"
#include "sandbox/sandbox.h"

enum { ERRORS_SHOWN = 5 };

/* Opens the database, before the sandbox closes the files that it looks for. */
static enum cli_exit open_database(struct run *run)
{
	char random;

	tzset();
	sqlite3_hard_heap_limit64((sqlite3_int64)(run->s->memory ? run->s->memory :
						  PD_MEMORY_LIMIT));
	/* A database that is attached gets the same flags. */
	if (sqlite3_open_v2(":memory:", &run->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI,
			    NULL) != SQLITE_OK ||
	    sqlite3_exec(run->db, "pragma temp_store = memory", NULL, NULL, NULL) != SQLITE_OK) {
		return run_report_start(run);
	}
	sqlite3_randomness(sizeof(random), &random);
	sqlite3_db_config(run->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* "a column that does not exist" is no text */
	sqlite3_db_config(run->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(run->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	return CLI_OK;
}

static enum cli_exit open_input(struct run *run, struct input *in)
{
	if (input_open(in, &pquery)) {
		cli_error(&pquery, "%s: %s%s", in->name, strerror(errno), in->hint);
		return CLI_INPUT;
	}
	if (in->fd < 0 && run->operands.nr_inputs > 1) {
		cli_error(&pquery, "%s: is a directory, which must be the only input", in->name);
		return CLI_USAGE;
	}
	return CLI_OK;
}

static const char *why_not_saved(int error)
{
	return error == EINVAL ? "a database needs a regular file" :
	       error == EEXIST ? "this file is not a SQLite database: it is not replaced" :
	       strerror(error);
}

static enum cli_exit open_save(struct run *run)
{
	const struct input *first = run->operands.inputs;
	struct stat source = { 0 };
	const bool has_source = source_stat(first->path, first->fd, &source);
	enum cli_exit status;

	source.st_mode |= 0600;		/* a database of a recording that only can be read, too */
	if (save_check(run->s->save)) {
		cli_error(&pquery, "%s: %s", run->s->save, why_not_saved(errno));
		return CLI_OUTPUT;
	}
	status = atomic_output_open(&run->saved, &pquery, run->s->save,
				    has_source ? &source : NULL);
	run->save.fd = run->saved.main.fd;
	return status;
}

static enum cli_exit open_output(struct run *run)
{
	const char *input = run->operands.nr_inputs ? run->operands.inputs[0].path : NULL;

	return run->s->save ? open_save(run) :
		output_open(&run->out, &pquery, run->s->output, input);
}

static enum cli_exit open_files(struct run *run)
{
	enum cli_exit status = CLI_OK;

	for (size_t i = 0; i < run->operands.nr_inputs && status == CLI_OK; i++)
		status = open_input(run, &run->operands.inputs[i]);
	if (status == CLI_OK)
		status = open_output(run);
	return status == CLI_OK ? open_database(run) : status;
}

static void drop_save(void *ctx)
{
	struct run *run = ctx;

	atomic_output_discard(&run->saved);
}

static enum cli_exit query_inputs(struct run *run)
{
	const struct input *first = run->operands.inputs;
	const size_t nr = run->operands.nr_inputs;
	const struct sandbox sandbox = {
		.tool = &pquery, .word = run->s->sandbox, .verbose = run->s->verbose,
		.input = nr ? first->fd : STDIN_FILENO,
		.read_beneath = nr && first->fd < 0 ? first->path : NULL,
		.receive = run->s->has_names ? SANDBOX_RECEIVE_FILES : SANDBOX_RECEIVE_NOTHING,
		.tempfile = SANDBOX_TEMPFILE_ALWAYS, .undo = drop_save,
	};
	enum cli_exit status = run->s->has_names ?
		query_names_prepare(&run->names, &pquery, &run->s->symbols, nr) : CLI_OK, kept;

	if (status != CLI_OK) {
		sqlite3_close_v2(run->db);
		return status;
	}
	status = sandbox_run(&sandbox, run->out.created || run->s->save ? SANDBOX_IN_CHILD :
			     SANDBOX_IN_PROCESS, run_in_sandbox, run);
	if (!run->s->save || status > CLI_ERRORS)
		return status;
	kept = atomic_output_commit(&run->saved);
	return kept == CLI_OK ? status : kept;
}

static enum cli_exit check_save(const struct settings *s)
{
	if (s->save && (s->output || s->format != ROWS_TABLE))
		return cli_usage(&pquery, "'--save' names the file of the database: '--%s' does "
				 "not apply", s->output ? "output" : "format");
	return CLI_OK;
}

static enum cli_exit check_names(const struct settings *s)
{
	const char *unused = symbols_first_option(&s->symbols);

	if (unused && !s->has_names)
		return cli_usage(&pquery, "'--%s' needs '--symbols'", unused);
	return symbols_check(&s->symbols, &pquery);
}

int main(int argc, char **argv)
{
	struct settings s = { .format = ROWS_TABLE };
	char **operands = cli_parse(&pquery, argc, argv, &s);
	struct run run = { .s = &s, .out = OUTPUT_CLOSED, .saved = ATOMIC_OUTPUT_CLOSED,
			   .errors = { &pquery, ERRORS_SHOWN, s.verbose, 0 } };
	enum cli_exit status = sandbox_check(&pquery, s.sandbox);

	run.rows = (struct rows){ .format = (enum rows_format)s.format, .out = &run.out,
				  .before = run_before_rows, .ctx = &run };
	if (status == CLI_OK)
		status = check_names(&s);
	if (status == CLI_OK)
		status = check_save(&s);
	if (status == CLI_OK)
		status = max_output_read(&pquery, s.max_output, &run.max_output);
	if (status == CLI_OK)
		status = operands_sort(&run.operands, &s, operands);
	if (status == CLI_OK)
		status = open_files(&run);
	if (status == CLI_OK)
		status = query_inputs(&run);
	if (run.out.fd >= 0 && status > CLI_ERRORS)
		output_discard(&run.out);
	atomic_output_discard(&run.saved);
	for (size_t i = 0; i < run.operands.nr_inputs; i++)
		input_close(&run.operands.inputs[i]);
	free(run.operands.inputs);
	cli_list_free(&s.symbols.debug_dirs);
	return cli_finish(&pquery, status);
}
