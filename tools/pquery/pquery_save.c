/* pquery_save.c - all tables as a SQLite database: see pquery_save.h.
 *
 * SQLite opens files by name, which the sandbox does not allow: the file system here has one file,
 * a descriptor. A journal is kept in memory, since a database that is not whole is of no use. */
#include "pquery/pquery_save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAVED "pquery-saved"

struct saved_file {
	sqlite3_file base;
	struct save *save;
};

static struct save *save_of(sqlite3_file *file)
{
	return ((struct saved_file *)file)->save;
}

static int keep_errno(struct save *s, int code)
{
	if (!s->error)
		s->error = errno;
	return code;
}

/* --- the file --- */

static int close_file(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *to, int size, sqlite3_int64 offset)
{
	struct save *s = save_of(file);
	size_t used = 0, wanted = (size_t)size;
	ssize_t n = 1;

	while (used < wanted && n) {
		n = pread(s->fd, (char *)to + used, wanted - used, offset + (off_t)used);
		if (n < 0 && errno != EINTR)
			return keep_errno(s, SQLITE_IOERR_READ);
		used += n > 0 ? (size_t)n : 0;
	}
	if (used == wanted)
		return SQLITE_OK;
	memset((char *)to + used, 0, wanted - used);
	return SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *file, const void *from, int size, sqlite3_int64 offset)
{
	struct save *s = save_of(file);
	size_t used = 0, wanted = (size_t)size;

	while (used < wanted) {
		const ssize_t n = pwrite(s->fd, (const char *)from + used, wanted - used,
					 offset + (off_t)used);

		if (n < 0 && errno != EINTR)
			return keep_errno(s, errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE);
		used += n > 0 ? (size_t)n : 0;
	}
	return SQLITE_OK;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	struct save *s = save_of(file);

	return ftruncate(s->fd, size) ? keep_errno(s, SQLITE_IOERR_TRUNCATE) : SQLITE_OK;
}

static int sync_file(sqlite3_file *file, int flags)
{
	(void)file;
	(void)flags;
	return SQLITE_OK;
}

static int measure_file(sqlite3_file *file, sqlite3_int64 *size)
{
	struct save *s = save_of(file);
	struct stat st;

	if (fstat(s->fd, &st))
		return keep_errno(s, SQLITE_IOERR_FSTAT);
	*size = st.st_size;
	return SQLITE_OK;
}

static int lock_file(sqlite3_file *file, int kind)
{
	(void)file;
	(void)kind;
	return SQLITE_OK;
}

static int check_lock(sqlite3_file *file, int *is_reserved)
{
	(void)file;
	*is_reserved = 0;
	return SQLITE_OK;
}

static int control_file(sqlite3_file *file, int operation, void *argument)
{
	(void)file;
	(void)operation;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int get_nothing(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1, .xClose = close_file, .xRead = read_file, .xWrite = write_file,
	.xTruncate = truncate_file, .xSync = sync_file, .xFileSize = measure_file,
	.xLock = lock_file, .xUnlock = lock_file, .xCheckReservedLock = check_lock,
	.xFileControl = control_file, .xSectorSize = get_nothing,
	.xDeviceCharacteristics = get_nothing,
};

/* --- the file system --- */

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	struct saved_file *f = (struct saved_file *)file;

	(void)name;
	*f = (struct saved_file){ .save = vfs->pAppData };
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	f->base.pMethods = &methods;
	if (out_flags)
		*out_flags = flags;
	return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_OK;
}

static int find_file(sqlite3_vfs *vfs, const char *name, int flags, int *is_found)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*is_found = 0;
	return SQLITE_OK;
}

static int make_path(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	snprintf(out, (size_t)size, "%s", name);
	return SQLITE_OK;
}

/* The first bytes of every database: https://www.sqlite.org/fileformat2.html. */
static bool is_database(int fd)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof(magic)];

	return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       memcmp(head, magic, sizeof(magic)) == 0;
}

int save_check(const char *path)
{
	const size_t n = strlen(path);
	struct stat st;
	int fd, ret;

	errno = EINVAL;
	if (strcmp(path, "-") == 0 || !n || path[n - 1] == '/')
		return -1;
	if (stat(path, &st))
		return errno == ENOENT ? 0 : -1;
	errno = EINVAL;
	if (!S_ISREG(st.st_mode))
		return -1;
	if (!st.st_size)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	ret = is_database(fd) ? 0 : -1;
	close(fd);
	errno = EEXIST;
	return ret;
}

int save_attach(struct save *s, sqlite3 *db)
{
	int code;

	s->vfs = *sqlite3_vfs_find(NULL);	/* random numbers and times are the system's */
	s->vfs.szOsFile = sizeof(struct saved_file);
	s->vfs.zName = SAVED;
	s->vfs.pAppData = s;
	s->vfs.xOpen = open_file;
	s->vfs.xDelete = delete_file;
	s->vfs.xAccess = find_file;
	s->vfs.xFullPathname = make_path;
	code = sqlite3_vfs_register(&s->vfs, 0);
	return code != SQLITE_OK ? code :
		sqlite3_exec(db, "attach 'file:saved?vfs=" SAVED "' as saved; "
			     "pragma saved.journal_mode = memory; pragma saved.synchronous = off",
			     NULL, NULL, NULL);
}

int save_table(sqlite3 *db, const char *name)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "create table saved.\"%s\" as select * from \"%s\"", name, name);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

void save_close(struct save *s)
{
	if (s->vfs.zName)
		sqlite3_vfs_unregister(&s->vfs);
}
