/* pdecode_settings.c - the options of pdecode: which go together, and what they ask for. */
#include "pdecode/pdecode_settings.h"

#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "files/input.h"
#include "sandbox/sandbox.h"

bool settings_show_frames(const struct settings *s)
{
	return s->resolve || s->symbols.depth;
}

bool settings_need_names(const struct settings *s)
{
	return s->symbols.depth || symbol_filter_needs_names(&s->filter.places);
}

bool settings_make_tables(const struct settings *s)
{
	return s->format >= FORMAT_ARROW;
}

/* Returns an option that has no meaning for tables, or NULL. */
static const char *find_json_option(const struct settings *s)
{
	return s->pretty ? "pretty" : s->blobs ? "blobs" : s->header_only ? "header-only" :
	       s->records_only ? "records-only" : s->utc ? "utc" : s->resolve ? "resolve" :
	       s->symbols.linkage_names ? "linkage-names" : NULL;
}

static bool is_for_stdout(const struct settings *s)
{
	return !s->output || strcmp(s->output, "-") == 0;
}

static enum cli_exit check_columns(const struct settings *s)
{
	const struct column_settings *c = &s->columns;
	const bool is_tables = settings_make_tables(s);

	if (is_tables && find_json_option(s))
		return cli_usage(&pdecode, "'--%s' does not apply to tables", find_json_option(s));
	if (is_tables && s->symbols.depth && strcmp(s->symbols.depth, SYMBOLS_FULL) != 0)
		return cli_usage(&pdecode, "'--symbols=%s' does not apply to tables: '--symbols' "
				 "fills the table symbols", s->symbols.depth);
	if (s->format == FORMAT_ARROW && s->symbols.strict &&
	    (!c->table || strcmp(c->table, "symbols") != 0))
		return cli_usage(&pdecode, "'--symbols-strict' applies to the table symbols: add "
				 "'--table symbols'");
	if (!is_tables && !c->ddl && (c->table || c->with.count || c->int64 || c->file_id))
		return cli_usage(&pdecode,
				 "'--%s' applies to tables: add '-f arrow' or '-f parquet'",
				 c->table ? "table" : c->with.count ? "with" :
				 c->int64 ? "int64" : "file-id");
	if (s->format == FORMAT_PARQUET && c->table)
		return cli_usage(&pdecode, "'--table' applies to arrow: parquet has all tables");
	if (s->format == FORMAT_PARQUET && is_for_stdout(s))
		return cli_usage(&pdecode, "'-f parquet' writes several files: add '-o DIR'");
	if (s->format == FORMAT_ARROW && !c->ddl && is_for_stdout(s) && isatty(STDOUT_FILENO))
		return cli_usage(&pdecode, "'-f arrow' is binary and standard output is a "
				 "terminal: use -o FILE");
	return column_check(&pdecode, c);
}

enum cli_exit settings_check(const struct settings *s, const char *operand)
{
	const struct cli_list *inputs = &s->inputs;
	const char *unused = symbols_first_option(&s->symbols);
	const enum cli_exit columns = check_columns(s);

	if (columns != CLI_OK)
		return columns;
	if (input_check(&pdecode, inputs, operand) != CLI_OK)
		return CLI_USAGE;
	if (s->pretty && s->format == FORMAT_JSONL)
		return cli_usage(&pdecode,
				 "'--pretty' does not apply to jsonl, which has one object per "
				 "line");
	if (s->header_only && s->format == FORMAT_STATS)
		return cli_usage(&pdecode,
				 "'--header-only' reads no records, so stats has nothing to count");
	if (s->records_only && (s->format != FORMAT_JSONL || s->header_only))
		return cli_usage(&pdecode, s->header_only ?
				 "'--records-only' and '--header-only' leave nothing" :
				 "'--records-only' applies to jsonl: add '-f jsonl'");
	if (s->utc && s->format == FORMAT_STATS)
		return cli_usage(&pdecode, "'--utc' applies to records, and stats shows none");
	if (settings_show_frames(s) && s->format == FORMAT_STATS)
		return cli_usage(&pdecode, "'--%s' applies to records, and stats shows none",
				 s->resolve ? "resolve" : "symbols");
	if (unused && !settings_need_names(s))
		return cli_usage(&pdecode, "'--%s' needs '--symbols'", unused);
	if (symbols_check(&s->symbols, &pdecode) != CLI_OK)
		return CLI_USAGE;
	if (s->schema && (operand || inputs->count))
		return cli_usage(&pdecode,
				 "'--schema' reads no input ('--schema=NAME' needs the '=')");
	if (s->verbose && s->jobs > MOST_THREADS)
		cli_error(&pdecode, "'--jobs': using %u threads, the maximum",
			  (unsigned int)MOST_THREADS);
	return sandbox_check(&pdecode, s->sandbox);
}
