/* pquery_run.h - a run of pquery over its inputs. */
#ifndef PD_TOOLS_PQUERY_RUN_H
#define PD_TOOLS_PQUERY_RUN_H

#include <sqlite3.h>

#include "database.h"
#include "files/atomic_output.h"
#include "files/input_errors.h"
#include "files/max_output.h"
#include "files/output.h"
#include "pquery/pquery_names.h"
#include "pquery/pquery_operands.h"
#include "pquery/pquery_rows.h"
#include "pquery/pquery_save.h"
#include "process/progress.h"

struct run {
	const struct settings *s;
	struct max_output max_output;
	struct operands operands;
	struct output out;
	struct atomic_output saved;	/* of --save; not `out` then */
	struct save save;
	struct rows rows;
	struct progress progress;
	uint64_t done;			/* bytes of the pass */
	struct pq_database database;
	struct query_names names;
	sqlite3 *db;
	struct input_errors errors;
};

/* Answers the SQL over the inputs, or saves their tables, and closes the database and the output.
 * `ctx` is the run, whose files are open. To be called in the sandbox. Returns the status. */
enum cli_exit run_in_sandbox(void *ctx);

/* Reports why SQLite can't be used. Returns CLI_OUTPUT. */
enum cli_exit run_report_start(const struct run *run);

/* Clears the progress: to be called before the first row is written. `ctx` is the run. */
void run_before_rows(void *ctx);

#endif
