/* pdecode_options.c - the command line of pdecode. */
#include "pdecode/pdecode_options.h"

#include "cli/build.h"
#include "files/input.h"
#include "files/limit_options.h"
#include "pdecode/pdecode_description.h"
#include "pdecode/pdecode_schema.h"

static const char *const formats[] = { "json", "jsonl", "stats", "arrow", "parquet",
				       NULL };
static const char *const blobs[] = { "hex", "omit", "full", NULL };
static const char *const sorts[] = { "file", "time", NULL };

static const struct cli_option options[] = {
	CLI_GROUP("Input and output"),
	INPUT_OPTION(settings),
	CLI_STRING('o', "output", "FILE", settings, output,
		   "write to FILE (default: standard output)"),
	CLI_CHOICE('f', "format", NULL, settings, format, formats,
		   "json: one document (default); jsonl: one object per line, each with its kind; "
		   "stats: counts instead of records (the fields of tracepoints are not looked "
		   "at, so damage there does not count); arrow: a table, as an IPC stream; "
		   "parquet: all tables, as files of the directory -o"),
	CLI_FLAG(0, "pretty", settings, pretty, "indent json and stats for human readers"),
	CLI_CHOICE(0, "blobs", NULL, settings, blobs, blobs,
		   "stacks, raw and AUX data: hex (default); omit leaves them out; full adds the "
		   "payloads of compressed records"),
	CLI_CHOICE(0, "sort", NULL, settings, sort, sorts,
		   "order of the records: as written (default), or by time"),
	CLI_FLAG(0, "header-only", settings, header_only,
		 "only the file, its events and features; reads no records, or in a pipe those "
		 "before the first sample"),
	CLI_FLAG(0, "records-only", settings, records_only,
		 "with jsonl: leave out the lines of kind file, attr and feature"),
	CLI_FLAG(0, "utc", settings, utc,
		 "add time_utc, the wall time, to each time, if the recording ties its clock "
		 "to it"),
	CLI_FLAG(0, "resolve", settings, resolve,
		 "add to samples the name of the task and the frames (file and offset of each "
		 "address), and list what was mapped; reads a file twice"),
	CLI_OPTIONAL(0, "schema", "NAME|DIR", settings, schema, SCHEMA_LIST,
		     "print the JSON Schema of that name, such as document or SAMPLE; write all of "
		     "them to a directory; without a value, list their names"),
	CLI_GROUP("Names"),
	SYMBOL_NAME_OPTIONS(settings, symbols),
	SYMBOL_FILE_OPTIONS(settings, symbols),
	COLUMN_OPTIONS(settings, columns),
	CLI_GROUP("Filters"),
	CLI_LIST(0, "types", "LIST", settings, filter.types,
		 "records of these types, by name or number: SAMPLE,MMAP2,70"),
	FILTER_OPTIONS(settings, filter, "records"),
	CLI_GROUP("Limits and messages"),
	CLI_NUMBER('j', "jobs", "N", settings, jobs,
		   "use N threads, at most 16 (default and 0: one per CPU); the output is the "
		   "same"),
	CLI_FLAG(0, "strict", settings, strict, "stop at the first damage"),
	LIMIT_OPTIONS(settings, LIMIT_INPUT_AND_NAMES),
	CLI_FLAG('v', "verbose", settings, verbose,
		 "show every error, and notes on what is unusual but no error"),

	/* Options of perf script that users may try. */
	CLI_REFUSED('F', "fields",
		    "all fields are written; select some with "
		    "pdecode -f jsonl | jq -c '{time,pid,ip}'"),
	CLI_REFUSED('D', "dump-raw-trace", "the JSON has every record and field; try --pretty"),
	CLI_REFUSED(0, "ns", "times are always in ns"),
	CLI_REFUSED(0, "header", "the header is always written; --header-only omits the rest"),
	CLI_REFUSED('I', "show-info", "the header is always written; --header-only omits the rest"),
	CLI_REFUSED('G', "hide-call-graph",
		    "remove it with pdecode -f jsonl | jq -c 'del(.callchain)'"),
	CLI_REFUSED('s', "script", "pipe pdecode -f jsonl into your own script"),
	CLI_REFUSED(0, "itrace", "AUX data is written as it is, not decoded"),
	CLI_REFUSED(0, "symfs", "the same as --sysroot"),
	CLI_END
};

static const struct cli_values values[] = {
	{ "types", .word = schema_record_type },
	{ "schema", .word = schema_word },
	{ "table", .word = column_table_word },
	{ "with", .word = column_group_word },
	{ "ddl", .words = "duckdb clickhouse spark sqlite" },
	{ NULL }
};

static const struct cli_note examples[] = {
	{ "pdecode > out.json", "Decode perf.data in the current directory." },
	{ "pdecode -f stats --pretty perf.data",
		"Show what it contains and whether it is complete." },
	{ "pdecode -f jsonl --types SAMPLE perf.data | jq -r .ip",
	  "Write one object per line, for jq, databases and scripts." },
	{ "perf record -a -o - sleep 10 | pdecode -f jsonl", "Decode while perf records." },
	{ "pdecode --header-only --pretty perf.data",
	  "Show machine, command line and events, fast for any file size." },
	{ "pdecode -f parquet -o tables perf.data", "Write tables for DuckDB, polars or Spark." },
	{ "perf record -a -o - sleep 10 | pdecode -f jsonl --resolve --types SAMPLE",
	  "Show whose samples they are, and where, while perf records." },
	{ "pdecode --comm nginx --cpu 0-3 --time 12.5,13 perf.data", "Decode a part." },
	{ NULL, NULL }
};

const struct cli_tool pdecode = {
	.name = "pdecode", .version = PD_VERSION, .build = BUILD_LINES_SANDBOXED,
	.summary = "Decode perf.data to complete JSON.",
	.description = pdecode_description, .usage = "[FILE|-]", .operand_note = INPUT_NOTE,
	.operands = CLI_AT_MOST_ONE,
	.options = options, .values = values, .examples = examples,
	.see_also = "precord(1), pencode(1), prepair(1), perf-record(1), jq(1)",
};
