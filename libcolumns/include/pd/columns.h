/* columns.h - a recording as tables of columns: Parquet files, Arrow streams.
 *
 * A library of its own, libpdcolumns: libdecode does not need it. Names: pc_OBJECT_VERB().
 *
 *	struct pc_columns *c = pc_new(PC_OPTIONS(.history = h), &e);
 *	size_t samples;
 *
 *	pc_table_find("samples", &samples);
 *	pc_write_arrow(c, reader, samples, output, &e);
 *
 * The tables are a star of small integers: `samples` refers to `stacks`, these to `frames`, and
 * frames to `objects`. The numbers of frames and stacks belong to one recording. Columns and tables
 * are added, never renamed or retyped; readers select by name.
 *
 * Threads: the library has no global state. Calls on one object must not overlap; different objects
 * are independent.
 *
 * Arguments: as in pd/pd.h, a call with a NULL that is not allowed, or with what does not exist,
 * has no effect.
 *
 * The library does not print, and opens no files but an unlinked temporary one, in $TMPDIR or /tmp,
 * when the metadata of row groups has more than a share of the memory. The same recording and
 * memory limit give the same bytes.
 */
#ifndef PD_COLUMNS_H
#define PD_COLUMNS_H

#include "pd/arrow.h"
#include "pd/history.h"
#include "pd/names.h"
#include "pd/pd.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PC_API __attribute__((visibility("default")))

/* --- the tables --- */

enum pc_type {
	PC_BOOL,
	PC_INT32,
	PC_INT64,
	PC_UINT64,		/* addresses and masks */
	PC_DOUBLE,
	PC_TEXT,		/* UTF-8, coded by a dictionary */
	PC_LONG_TEXT,		/* UTF-8, mostly a different one in each row */
	PC_BYTES,
	PC_INT32_LIST,
	PC_INT64_LIST,
	PC_UINT64_LIST,
	PC_TEXT_LIST,
	PC_STRUCT_LIST,		/* its members are the columns after it that name it */
};

/* Columns that are only there if they are asked for: pc_options.with. */
enum pc_group {
	PC_GROUP_ADDR = 1 << 0,
	PC_GROUP_RAW = 1 << 1,
	PC_GROUP_OFFSET = 1 << 2,
	PC_GROUP_WALL = 1 << 3,
	PC_GROUP_MEM = 1 << 4,
	PC_GROUP_BRANCH = 1 << 5,
	PC_GROUP_READ = 1 << 6,
	PC_GROUP_REGS = 1 << 7,
	PC_GROUP_STACK = 1 << 8,
	PC_GROUP_TRACEPOINTS = 1 << 9,
	PC_GROUP_ALL = (1 << 10) - 1,
};

enum pc_null { PC_REQUIRED, PC_NULLABLE };

struct pc_column {
	const char *name;
	enum pc_type type;
	enum pc_null null;
	uint32_t group;		/* enum pc_group; 0: always there */
	/* The number of the list, a PC_STRUCT_LIST, for a member of its structs. 0: a column of its
	 * own. */
	uint32_t list;
	const char *doc;
};

struct pc_table {
	const char *name;
	const struct pc_column *columns;	/* numbered from 1: the field ids of Parquet */
	size_t nr_columns;
	const char *doc;
};

/* Returns the number of tables. Safe in any thread. */
PC_API size_t pc_nr_tables(void);

/* Returns the i-th table, or NULL after the last. Static. Safe in any thread. */
PC_API const struct pc_table *pc_table_at(size_t i);

/* Finds a table by its name and sets *i. Returns false if there is none; *i is then unchanged. Safe
 * in any thread. */
PC_API bool pc_table_find(const char *name, size_t *i);

/* Finds a group of columns by its name, "addr". Returns its enum pc_group, 0 if there is none. Safe
 * in any thread. */
PC_API uint32_t pc_group_find(const char *name);

/* Returns the name of the group 1 << i, or NULL after the last. Static. Safe in any thread. */
PC_API const char *pc_group_name(size_t i);

/* --- a pass over a recording --- */

struct pc_columns;

/* How columns of PC_UINT64 are written. */
enum pc_unsigned {
	PC_UNSIGNED,
	PC_AS_INT64,		/* int64 of the same bits, for engines without unsigned types */
};

/* Which records a pass reads. */
enum pc_reading {
	PC_READ_ALL,
	PC_READ_NEEDED,		/* none for tables that the history has: then no errors of records
				 * are found either */
};

struct pc_options {
	size_t size;			/* PC_OPTIONS() sets it */
	const struct pd_history *history;	/* sealed, of the same recording; borrowed until
						 * pc_free() */
	struct pd_filter *filter;	/* borrowed until pc_free(), or NULL */
	uint64_t memory_limit;		/* bytes that input can make it allocate; 0: 256 MiB */
	uint64_t tables;		/* a bit for each table that is read; 0: all */
	uint32_t with;			/* enum pc_group */
	enum pc_unsigned uint64;
	const char *file_id;		/* of all rows; NULL: NULL. Borrowed until pc_free() */
	const char *path;		/* of the input, for `files`; NULL: NULL. Borrowed */
	/* A bit for each column that is made, if `tables` is one table: what it does not need is
	 * not computed. A list of structs is made with all its members. 0: all. The numbers in the
	 * columns are the same. */
	uint64_t columns;
	/* Called after each few hundred records, with `ctx`; NULL: not. Returns 0 to continue, else
	 * what the pass ends with, as an output's function does: a stream's get_next() returns it,
	 * which must be an errno value. */
	int (*on_read)(void *ctx, const struct pd_reader *r);
	void *ctx;
	/* Names for the table `symbols`, which is empty without; it also unwinds copied stacks. Its
	 * totals() counts each frame of the table once. Borrowed until pc_free(), or NULL. */
	const struct pd_namer *namer;
	/* For pc_write_parquet(): with 2 or more, one thread reads, a second one makes rows of
	 * samples, and a third one encodes and calls the outputs, one at a time. The files are the
	 * same. */
	unsigned int threads;
	/* The reader is taken to be at its end after as many records, or samples among them: of a
	 * reader that starts at an entry of an index (pd/index.h), the rows of `samples` are then
	 * those of a part, unless they have numbers of frames or stacks. 0: all records. */
	uint64_t records;
	enum pc_reading reading;
};
#define PC_OPTIONS(...) PD_OPTIONS_OF(pc_options, __VA_ARGS__)

/* Creates the tables of one pass. `o` is copied. Returns NULL on failure and sets *e: PD_E_NOMEM,
 * PD_E_LIMIT if the memory limit is too low for any recording, or PD_E_ARGUMENT without a history.
 * Free it with pc_free(). */
PC_API struct pc_columns *pc_new(const struct pc_options *o, struct pd_error *e);

/* Frees the tables. `c` may be NULL. */
PC_API void pc_free(struct pc_columns *c);

/* Adds an error that a reader reported: a row of `errors`. Must be called from
 * pd_reader_options.on_error. */
PC_API void pc_add_error(struct pc_columns *c, const struct pd_error *e);

/* Returns whether an error is of a payload: only a pass finds it that makes the column `fields`, or
 * with its group (PC_GROUP_TRACEPOINTS) the tables `errors` or `files`. Every pass reports all
 * other errors. Safe in any thread. */
PC_API bool pc_error_is_of_payload(const struct pd_error *e);

/* The functions below read all records of `r`. They return 0 and set *e to PD_OK, or to the error
 * after which reading could not continue: the tables are whole, up to there. Else they return what
 * an output's function returned, or -1 and *e: PD_E_LIMIT, PD_E_ARGUMENT. One of them may be
 * called, once. */

/* Writes the tables as Parquet files: outputs[i] is of pc_table_at(i). Those whose `write` is NULL
 * are left out. */
PC_API int pc_write_parquet(struct pc_columns *c, struct pd_reader *r,
			    const struct pd_output *outputs, struct pd_error *e);

/* Writes one table as a stream of Arrow IPC. */
PC_API int pc_write_arrow(struct pc_columns *c, struct pd_reader *r, size_t table,
			  struct pd_output out, struct pd_error *e);

/* --- one table in memory --- */

/* The owner of what a stream needs. `release` is called once, after the stream is released; NULL:
 * the caller. */
struct pc_owner {
	void (*release)(void *ctx);
	void *ctx;
};

/* Opens one table as a stream of Arrow's C interface, a struct array for each batch, instead of the
 * functions above. The tables of pc_options.tables should be this one alone. `c` and `r` must
 * live until the stream is released; its arrays and schemas belong to whoever gets them, do not
 * count against the memory limit, and may outlive all. Texts are indices with a dictionary of each
 * batch. Reading happens in get_next(), which returns EIO after the last batch if reading could not
 * continue, and ENOMEM if the memory limit does not suffice; damage that is skipped is no failure.
 * The stream has the columns of pc_options: a consumer that expects it to leave out others
 * (duckdb_arrow_scan() of DuckDB's C interface does) must select all. Returns 0, or -1 and *e:
 * PD_E_ARGUMENT, PD_E_NOMEM; the owner is then not called. */
PC_API int pc_open_stream(struct pc_columns *c, struct pd_reader *r, size_t table,
			  struct pc_owner owner, struct ArrowArrayStream *out,
			  struct pd_error *e);

/* --- definitions --- */

enum pc_dialect { PC_DUCKDB, PC_CLICKHOUSE, PC_SPARK, PC_SQLITE };

/* Writes CREATE TABLE statements of all tables, with the columns that `o` selects; `o` may be NULL.
 * Returns 0, what the output's function returned, or EINVAL for the call. Safe in any thread. */
PC_API int pc_write_ddl(enum pc_dialect dialect, const struct pc_options *o, struct pd_output out);

#ifdef __cplusplus
}
#endif
#endif
