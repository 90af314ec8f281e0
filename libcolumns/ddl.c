/* ddl.c - definitions of the tables in the SQL of some engines. */
#include <stdio.h>
#include <string.h>

#include "batch.h"

enum { NR_TYPES = PC_TEXT_LIST + 1 };

/* One word for each enum pc_type. Engines without unsigned types or lists get the same bits as
 * BIGINT, and JSON text. */
static const char *const words[][NR_TYPES] = {
	[PC_DUCKDB] = { "BOOLEAN", "INTEGER", "BIGINT", "UBIGINT", "DOUBLE", "VARCHAR", "VARCHAR",
			"INTEGER[]", "BIGINT[]", "UBIGINT[]", "VARCHAR[]" },
	[PC_CLICKHOUSE] = { "Bool", "Int32", "Int64", "UInt64", "Float64",
			    "LowCardinality(String)", "String", "Array(Int32)", "Array(Int64)",
			    "Array(UInt64)", "Array(String)" },
	[PC_SPARK] = { "BOOLEAN", "INT", "BIGINT", "BIGINT", "DOUBLE", "STRING", "STRING",
		       "ARRAY<INT>", "ARRAY<BIGINT>", "ARRAY<BIGINT>", "ARRAY<STRING>" },
	[PC_SQLITE] = { "INTEGER", "INTEGER", "INTEGER", "INTEGER", "REAL", "TEXT", "TEXT", "TEXT",
			"TEXT", "TEXT", "TEXT" },
};

static const char *type_of(enum pc_dialect dialect, const struct pc_column *c,
			   enum pc_unsigned uint64)
{
	enum pc_type type = c->type;

	if (uint64 == PC_AS_INT64 && type == PC_UINT64)
		type = PC_INT64;
	if (uint64 == PC_AS_INT64 && type == PC_UINT64_LIST)
		type = PC_INT64_LIST;
	return words[dialect][type];
}

static void print_column(char *line, size_t size, enum pc_dialect dialect,
			 const struct pc_column *c, enum pc_unsigned uint64)
{
	const char *quote = dialect == PC_SPARK || dialect == PC_CLICKHOUSE ? "`" : "\"";
	const char *type = type_of(dialect, c, uint64);
	const bool is_nullable = c->null == PC_NULLABLE;

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
	char line[256];
	int error;

	snprintf(line, sizeof(line), "-- %s\nCREATE TABLE %s (", t->doc, t->name);
	error = write_text(out, line);
	for (size_t i = 0, n = 0; i < t->nr_columns && !error; i++) {
		if (t->columns[i].group && !(t->columns[i].group & with))
			continue;
		error = write_text(out, n++ ? ",\n" : "\n");
		print_column(line, sizeof(line), dialect, &t->columns[i], uint64);
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

	if (o)
		memcpy(&options, o, o->size < sizeof(options) ? o->size : sizeof(options));
	for (size_t i = 0; i < PC_NR_TABLES && !error; i++)
		if (!options.tables || options.tables >> i & 1)
			error = write_table(dialect, pc_table_at(i), options.with, options.uint64,
					    out);
	return error;
}
