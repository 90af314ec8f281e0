/* pdecode_columns.h - tables of columns: -f arrow, -f parquet and --ddl. */
#ifndef PD_TOOLS_PDECODE_COLUMNS_H
#define PD_TOOLS_PDECODE_COLUMNS_H

#include "cli/cli.h"
#include "files/atomic_output.h"
#include "files/input.h"
#include "files/output.h"
#include "pd/columns.h"

/* The options. */
struct column_settings {
	const char *table, *ddl, *file_id;
	struct cli_list with;
	bool int64;
};

#define COLUMN_OPTIONS(type, member)							\
	CLI_GROUP("Tables"),								\
	CLI_STRING(0, "table", "NAME", type, member.table,				\
		   "with arrow: the table (default: samples)"),				\
	CLI_LIST(0, "with", "GROUP", type, member.with,					\
		 "more columns of samples: addr (addr, phys_addr, data_page_size, "	\
		 "code_page_size), raw (ip, callchain, raw), offset, wall (wall_ns), mem "	\
		 "(data_src, mem_op, mem_lvl, ...), branch, read (time_enabled, "	\
		 "time_running, counts), regs (user_regs, intr_regs), stack (dyn_size, "	\
		 "user_stack), tracepoints (fields, a JSON object)"),				\
	CLI_FLAG(0, "int64", type, member.int64,					\
		 "write addresses as int64 of the same bits, for Spark and others that "	\
		 "have no unsigned numbers"),						\
	CLI_STRING(0, "file-id", "ID", type, member.file_id,				\
		   "the file_id in all rows, to tell the inputs of a collection apart"),	\
	CLI_STRING(0, "ddl", "ENGINE", type, member.ddl,				\
		   "print CREATE TABLE statements for duckdb, clickhouse, spark or sqlite")

#define COLUMN_DESCRIPTION								\
	"-f parquet writes the recording as tables to the directory of -o, a Parquet file "	\
	"each: samples, stacks, frames, objects, maps, tasks, comms, switches, cgroups, "	\
	"namespaces, lost, events, features, records (types without a table, as JSON), "	\
	"errors, symbols and files. A sample refers to its stack, a stack to its frames, "	\
	"a frame to an object and an offset in it; the numbers belong to this recording. "	\
	"Times are ns. With --symbols, symbols has the functions of each frame, and "	\
	"copied stacks are unwound; without, it is empty. -f arrow writes one of the "	\
	"tables as an Arrow IPC stream. Both read the input twice, as --resolve does. The "	\
	"same input gives the same bytes. A row of samples is a SAMPLE record: the counts "	\
	"of other members of a group are in its column counts (--with read). Filters and "	\
	"--types choose records; maps, tasks and objects are those of the whole "		\
	"recording. Damage is in errors, that of the payloads of tracepoints only if they "	\
	"are read (--with tracepoints); a number that a column can't hold is NULL, and a "	\
	"note there. The files get their names when all are complete, files.parquet last.\n\n"

/* Completion. */
const char *column_table_word(size_t i, char *buf, size_t size);
const char *column_group_word(size_t i, char *buf, size_t size);

/* The output of -f parquet: files without names until all are complete. */
struct column_files {
	struct atomic_output place;	/* the main file is that of the table `files` */
	struct output *outputs;		/* of each table; NULL: not opened */
};

/* Checks the options. `is_columns`: the format is arrow or parquet. */
enum cli_exit column_check(const struct cli_tool *tool, const struct column_settings *s);
/* Prints the definitions. */
enum cli_exit column_write_ddl(const struct cli_tool *tool, const struct column_settings *s,
			       const char *output);
/* Creates the tables. Returns NULL without memory. */
struct pc_columns *column_make(const struct column_settings *s, const struct pc_options *o);
/* A sink that takes errors only, and frees the tables. */
struct pd_sink *column_sink(struct pc_columns *c);
/* Returns the number of --table. */
size_t column_table(const struct column_settings *s);

/* Opens a file for each table. Returns CLI_OK, or another status after a message. */
enum cli_exit column_files_open(struct column_files *f, const struct cli_tool *tool,
				const char *directory, const struct input *in);
/* Writes them. Returns as pc_write_parquet(). */
int column_files_write(struct column_files *f, struct pc_columns *c, struct pd_reader *r,
		       struct pd_error *e);
bool column_files_failed(const struct column_files *f);
/* Closes them, up to the first that failed; returns `status`, or CLI_OUTPUT after a message. */
enum cli_exit column_files_close(struct column_files *f, enum cli_exit status);
/* Gives the files their names. Returns CLI_OK, or another status after a message. */
enum cli_exit column_files_commit(struct column_files *f);
/* Removes what was not committed. */
void column_files_free(struct column_files *f);

#endif
