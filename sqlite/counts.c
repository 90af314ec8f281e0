/* counts.c - count(), where a row of a scan stands for several: see counts.h. */
#include "api.h"

#include "counts.h"

#include <string.h>

/* --- the function --- */

static void add_count(sqlite3_context *to, int argc, sqlite3_value **argv, int sign)
{
	const struct pq_database *d = sqlite3_user_data(to);
	sqlite3_int64 *count;

	if (argc && sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	count = sqlite3_aggregate_context(to, sizeof(*count));
	if (!count)
		sqlite3_result_error_nomem(to);
	else if (!d->rows_of_row)	/* SQLite keeps rows, against its plan */
		sqlite3_result_error(to, "rows are counted after their scan", -1);
	else
		*count += sign * (sqlite3_int64)d->rows_of_row;
}

static void count_row(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	add_count(to, argc, argv, 1);
}

static void uncount_row(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	add_count(to, argc, argv, -1);
}

static void give_count(sqlite3_context *to)
{
	const sqlite3_int64 *count = sqlite3_aggregate_context(to, 0);

	sqlite3_result_int64(to, count ? *count : 0);
}

int pq_register_counts(sqlite3 *db, struct pq_database *d)
{
	int ret = SQLITE_OK;

	d->rows_of_row = 1;
	for (int argc = 0; argc <= 1 && ret == SQLITE_OK; argc++)
		ret = sqlite3_create_window_function(db, "count", argc,
						     SQLITE_UTF8 | SQLITE_DETERMINISTIC, d,
						     count_row, give_count, give_count, uncount_row,
						     NULL);
	return ret;
}

/* --- statements --- */

void pq_counts_begin(struct pq_database *d)
{
	d->uses = (struct pq_uses){ .selects = 0 };
	d->rows_of_row = 1;
}

/* Returns whether a function has the same result for a group, however often it sees a row. */
static bool is_harmless(const char *function)
{
	static const char *const names[] = {
		"abs", "coalesce", "format", "glob", "hex", "ifnull", "iif", "instr", "length",
		"like", "lower", "ltrim", "max", "min", "nullif", "printf", "replace", "round",
		"rtrim", "substr", "substring", "trim", "typeof", "upper",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (sqlite3_stricmp(names[i], function) == 0)
			return true;
	return false;
}

/* Returns whether rows can be merged that differ only in what a statement does not read: the number
 * of a row is no column, so the plan does not tell whether it is read. */
static bool can_merge_rows(const struct pq_database *d, const char *name, const char *column)
{
	if (!column || strcmp(column, "ROWID") == 0)
		return false;
	for (size_t i = 0; pq_table_at(i); i++)
		if (name && strcmp(d->modules[i].table->name, name) == 0)
			return true;
	return false;
}

void pq_counts_note(struct pq_database *d, int action, const char *a, const char *b)
{
	struct pq_uses *u = &d->uses;

	if (action == SQLITE_SELECT)
		u->selects++;
	else if (action == SQLITE_FUNCTION && sqlite3_stricmp(b, "count") == 0)
		u->counts = true;
	else if (action == SQLITE_FUNCTION)
		u->others |= !is_harmless(b);
	else if (action == SQLITE_READ)
		u->others |= !can_merge_rows(d, a, b);
	else
		u->others = true;
}

static bool has_text(const char *sql, const char *lower)
{
	const size_t n = strlen(lower);

	for (; *sql; sql++)
		if (sqlite3_strnicmp(sql, lower, (int)n) == 0)
			return true;
	return false;
}

/* SQLite reports neither count(distinct x) nor windows to the authorizer. Where these words are
 * something else, rows are only not merged. */
void pq_counts_end(struct pq_database *d, const char *sql)
{
	const struct pq_uses *u = &d->uses;

	d->may_merge = u->selects == 1 && !u->others &&
		       !(u->counts && (has_text(sql, "distinct") || has_text(sql, "over")));
}
