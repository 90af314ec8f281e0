/* pquery_options.c - the options and the help of pquery: see pquery_options.h. */
#include "pquery/pquery_options.h"

#include "cli/build.h"
#include "files/input.h"
#include "files/limit_options.h"
#include "files/max_output.h"
#include "pquery/pquery_rows.h"
#include "sandbox/sandbox.h"

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
		 "keep at most SIZE of each input in memory, as much of files with names of "
		 "functions, and as much for sorting and grouping, such as 1G (default and 0: 256M,"
		 " and 1G of those files)"),
	MAX_OUTPUT_OPTION(settings, max_output),
	SANDBOX_OPTION(settings),
	CLI_FLAG('v', "verbose", settings, verbose, "show every error"),
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

const struct cli_tool pquery = {
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
		"A row of samples is a SAMPLE record: the counts of other members of a group are "
		"in its column counts. Damage in the payload of a tracepoint is only found by "
		"queries that read fields, files or errors. -f json writes an array for each "
		"statement.\n\n"
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
