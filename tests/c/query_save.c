/* query_save.c FILE - the file system of pquery --save with a cache of few pages, so that SQLite
 * reads the pages again that it has written. Prints a line for each thing that is wrong. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "pquery/pquery_save.h"

enum { FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI };

/* The texts differ in length, and an index in this order reaches pages all over the file. */
#define ROWS "with recursive n(i) as (select 1 union all select i + 1 from n where i < 30000) " \
	"select i, i * 7919 % 30011 as mixed, hex(zeroblob(i % 50)) as text from n"
#define SUMS "select sum(i), sum(mixed), sum(length(text)), sum(i * length(text)) "

static void run(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message))
		printf("%s: %s\n", sql, message), failures++;
	sqlite3_free(message);
}

/* Returns the columns of the first row as text, "" without one. To be freed. */
static char *ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	char *answer = sqlite3_mprintf("");

	CHECK(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
	if (sqlite3_step(statement) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			answer = sqlite3_mprintf("%z %s", answer,
						 sqlite3_column_text(statement, i));
	if (sqlite3_finalize(statement))
		printf("%s: %s\n", sql, sqlite3_errmsg(db)), failures++;
	return answer;
}

static void same_answers(sqlite3 *db, const char *sql, const char *other)
{
	char *a = ask(db, sql), *b = ask(db, other);

	if (!*a || sqlite3_stricmp(a, b))
		printf("%s: %s, not%s\n", sql, a, b), failures++;
	sqlite3_free(a);
	sqlite3_free(b);
}

static int misses(sqlite3 *db)
{
	int now = 0, most = 0;

	CHECK(sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_MISS, &now, &most, 0) == SQLITE_OK);
	return now;
}

static void read_again(sqlite3 *db)
{
	run(db, "create table made as " ROWS);
	run(db, "pragma saved.cache_size = 8");
	CHECK(save_table(db, "made") == SQLITE_OK);
	run(db, "create index saved.by_mixed on made(mixed)");
	same_answers(db, SUMS "from saved.made", SUMS "from main.made");
	same_answers(db, SUMS "from (select * from saved.made indexed by by_mixed where mixed > 9)",
		     SUMS "from main.made where mixed > 9");
	same_answers(db, "pragma saved.integrity_check", "select 'ok'");
	CHECK(misses(db) > 10000);
}

static void read_by_name(const char *path)
{
	sqlite3 *db;

	CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
	same_answers(db, "pragma integrity_check", "select 'ok'");
	same_answers(db, SUMS "from made", SUMS "from (" ROWS ")");
	sqlite3_close(db);
}

int main(int argc, char **argv)
{
	struct save s = { .fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1 };
	sqlite3 *db;

	if (s.fd < 0 || sqlite3_open_v2(":memory:", &db, FLAGS, NULL))
		return 2;
	CHECK(save_attach(&s, db) == SQLITE_OK);
	read_again(db);
	sqlite3_close(db);
	CHECK(!s.error);
	save_close(&s);
	read_by_name(argv[1]);
	close(s.fd);
	return failures != 0;
}
