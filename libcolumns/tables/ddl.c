/* ddl.c - definitions of the tables in the SQL of some engines. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tables/batch.h"

enum { NR_TYPES = PC_STRUCT_LIST, LINE_SIZE = 1024 };

/* One word for each enum pc_type but PC_STRUCT_LIST. Engines without unsigned types or lists get
 * the same bits as BIGINT, and JSON text. */
static const char *const words[][NR_TYPES] = {
	[PC_DUCKDB] = { "BOOLEAN", "INTEGER", "BIGINT", "UBIGINT", "DOUBLE", "VARCHAR", "VARCHAR",
			"BLOB", "INTEGER[]", "BIGINT[]", "UBIGINT[]", "VARCHAR[]" },
	[PC_CLICKHOUSE] = { "Bool", "Int32", "Int64", "UInt64", "Float64",
			    "LowCardinality(String)", "String", "String", "Array(Int32)",
			    "Array(Int64)", "Array(UInt64)", "Array(String)" },
	[PC_SPARK] = { "BOOLEAN", "INT", "BIGINT", "BIGINT", "DOUBLE", "STRING", "STRING",
		       "BINARY", "ARRAY<INT>", "ARRAY<BIGINT>", "ARRAY<BIGINT>", "ARRAY<STRING>" },
	[PC_SQLITE] = { "INTEGER", "INTEGER", "INTEGER", "INTEGER", "REAL", "TEXT", "TEXT", "BLOB",
			"TEXT", "TEXT", "TEXT", "TEXT" },
};

/* A list of structs: what is around the members, and their names. */
static const struct {
	const char *start, *quote, *separator, *end;
} lists[] = {
	[PC_DUCKDB] = { "STRUCT(", "\"", " ", ")[]" },
	[PC_CLICKHOUSE] = { "Array(Tuple(", "`", " ", "))" },
	[PC_SPARK] = { "ARRAY<STRUCT<", "`", ": ", ">>" },
	[PC_SQLITE] = { "TEXT", NULL, NULL, "" },
};

static const char *word_of(enum pc_dialect dialect, enum pc_type type, enum pc_unsigned uint64)
{
	if (uint64 == PC_AS_INT64 && type == PC_UINT64)
		type = PC_INT64;
	if (uint64 == PC_AS_INT64 && type == PC_UINT64_LIST)
		type = PC_INT64_LIST;
	return words[dialect][type];
}

static void print_type(char *to, size_t size, enum pc_dialect dialect, const struct pc_table *t,
		       size_t column, enum pc_unsigned uint64)
{
	const size_t members = lists[dialect].quote ? pc_nr_members(t, column) : 0;
	size_t used;

	if (t->columns[column].type != PC_STRUCT_LIST) {
		snprintf(to, size, "%s", word_of(dialect, t->columns[column].type, uint64));
		return;
	}
	used = (size_t)snprintf(to, size, "%s", lists[dialect].start);
	for (size_t i = 1; i <= members && used < size; i++) {
		const struct pc_column *c = &t->columns[column + i];

		used += (size_t)snprintf(to + used, size - used, "%s%s%s%s%s%s", i > 1 ? ", " : "",
					 lists[dialect].quote, c->name, lists[dialect].quote,
					 lists[dialect].separator,
					 word_of(dialect, c->type, uint64));
	}
	if (used < size)
		snprintf(to + used, size - used, "%s", lists[dialect].end);
}

static void print_column(char *line, size_t size, enum pc_dialect dialect, const struct pc_table *t,
			 size_t column, enum pc_unsigned uint64)
{
	const char *quote = dialect == PC_SPARK || dialect == PC_CLICKHOUSE ? "`" : "\"";
	const struct pc_column *c = &t->columns[column];
	const bool is_nullable = c->null == PC_NULLABLE;
	char type[LINE_SIZE - 128];

	print_type(type, sizeof(type), dialect, t, column, uint64);
	if (dialect != PC_CLICKHOUSE)
		snprintf(line, size, "\t%s%s%s %s%s", quote, c->name, quote, type,
			 is_nullable ? "" : " NOT NULL");
	else if (!is_nullable || pc_is_list(c->type))
		snprintf(line, size, "\t`%s` %s", c->name, type);
	else if (c->type == PC_TEXT)
		snprintf(line, size, "\t`%s` LowCardinality(Nullable(String))", c->name);
	else
		snprintf(line, size, "\t`%s` Nullable(%s)", c->name, type);
}

static int write_text(struct pd_output out, const char *text)
{
	return out.write(out.ctx, text, strlen(text));
}

static int write_table(enum pc_dialect dialect, const struct pc_table *t, uint32_t with,
		       enum pc_unsigned uint64, struct pd_output out)
{
	char line[LINE_SIZE];
	int error;

	snprintf(line, sizeof(line), "-- %s\nCREATE TABLE %s (", t->doc, t->name);
	error = write_text(out, line);
	for (size_t i = 0, n = 0; i < t->nr_columns && !error; i++) {
		if (t->columns[i].list || (t->columns[i].group && !(t->columns[i].group & with)))
			continue;
		error = write_text(out, n++ ? ",\n" : "\n");
		print_column(line, sizeof(line), dialect, t, i, uint64);
		error = error ? error : write_text(out, line);
	}
	if (error)
		return error;
	return write_text(out, dialect == PC_CLICKHOUSE ?
			  "\n) ENGINE = MergeTree ORDER BY tuple();\n\n" :
			  dialect == PC_SPARK ? "\n) USING parquet;\n\n" : "\n);\n\n");
}

int pc_write_ddl(enum pc_dialect dialect, const struct pc_options *o, struct pd_output out)
{
	struct pc_options options = { .size = sizeof(options) };
	int error = 0;

	if (dialect > PC_SQLITE || !out.write || (o && pc_options_take(&options, o)))
		return EINVAL;
	for (size_t i = 0; i < PC_NR_TABLES && !error; i++)
		if (!options.tables || options.tables >> i & 1)
			error = write_table(dialect, pc_table_at(i), options.with, options.uint64,
					    out);
	return error;
}
