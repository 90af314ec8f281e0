/* pquery_save.h - all tables as a SQLite database in a file that is open already. */
#ifndef PD_TOOLS_PQUERY_SAVE_H
#define PD_TOOLS_PQUERY_SAVE_H

#include <sqlite3.h>

struct save {
	sqlite3_vfs vfs;	/* the file system whose one file is `fd` */
	int fd;			/* for reading and writing; the caller's */
	int error;		/* errno of the first failure, or 0 */
};

/* Checks that a database can take the place of what is at `path`, if anything is. Returns 0, or -1
 * and errno: EINVAL if it is no regular file, EEXIST if it is not empty and no database. */
int save_check(const char *path);

/* Creates the database `saved` in the file, which is empty. Must be called after all other
 * initialization of `db` and before an authorizer is set. Returns SQLITE_OK or another code. */
int save_attach(struct save *s, sqlite3 *db);

/* Copies a table. Returns SQLITE_OK or another code. */
int save_table(sqlite3 *db, const char *name);

/* Must be called after sqlite3_close(). */
void save_close(struct save *s);

#endif
