/* extension.c - the loadable extension of SQLite: perf_samples('perf.data') and the other tables.
 *
 * Built into a shared library of its own, with PQ_EXTENSION. */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "database.h"

/* Called by SQLite: the name is that of the file, perfdata.so. */
__attribute__((visibility("default")))
int sqlite3_perfdata_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

/* A recording that was opened, and the file then. */
struct opened {
	struct pq_recording *recording;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct extension {
	struct pq_database database;	/* the first member */
	struct opened *opened;		/* of each recording */
};

static bool is_same(const struct opened *o, const char *path, const struct stat *st)
{
	return strcmp(o->recording->name, path) == 0 && o->device == st->st_dev &&
	       o->inode == st->st_ino && o->size == st->st_size &&
	       o->changed.tv_sec == st->st_mtim.tv_sec && o->changed.tv_nsec == st->st_mtim.tv_nsec;
}

static struct pq_recording *open_recording(struct extension *x, const char *path,
					   const struct stat *st, char **message)
{
	struct pq_database *d = &x->database;
	struct opened *more = realloc(x->opened, (d->count + 1) * sizeof(*more));
	const struct pq_input input = { .name = path, .fd = -1 };
	struct pd_error e = { .code = PD_E_NOMEM };
	struct pq_recording *r = NULL;
	char text[512];

	if (more) {
		x->opened = more;
		r = pq_database_add(d, &input, &e);
	}
	if (r)
		x->opened[d->count - 1] = (struct opened){ r, st->st_dev, st->st_ino, st->st_size,
							   st->st_mtim };
	else
		*message = sqlite3_mprintf("%s: %s", path, pd_error_text(&e, text, sizeof(text)));
	return r;
}

static struct pq_recording *find_recording(struct pq_database *d, const char *path, char **message)
{
	struct extension *x = (struct extension *)d;
	struct stat st = { 0 };

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		*message = sqlite3_mprintf("%s: is no file, and would have to be read twice",
					   path);
		return NULL;
	}
	for (size_t i = 0; i < d->count; i++)
		if (is_same(&x->opened[i], path, &st))
			return x->opened[i].recording;
	return open_recording(x, path, &st, message);
}

static void free_extension(void *extension)
{
	struct extension *x = extension;

	pq_database_free(&x->database);
	free(x->opened);
	free(x);
}

static void give_version(sqlite3_context *to, int argc, sqlite3_value **argv)
{
	(void)argc;
	(void)argv;
	sqlite3_result_text(to, pd_version(), -1, SQLITE_STATIC);
}

int sqlite3_perfdata_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
	struct extension *x = calloc(1, sizeof(*x));
	int ret;

	(void)message;
	SQLITE_EXTENSION_INIT2(api);
	if (!x)
		return SQLITE_NOMEM;
	x->database.names = PQ_FUNCTIONS;
	x->database.open = find_recording;
	ret = pq_register(db, &x->database);
	/* The function frees the recordings when the connection is closed. */
	if (ret != SQLITE_OK) {
		free_extension(x);
		return ret;
	}
	return sqlite3_create_function_v2(db, "perf_version", 0, SQLITE_UTF8, x, give_version, NULL,
					  NULL, free_extension);
}
