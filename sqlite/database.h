/* database.h - recordings as tables of a SQLite database, read-only. */
#ifndef PQ_DATABASE_H
#define PQ_DATABASE_H

#include "recording.h"

enum pq_names {
	PQ_TABLES,	/* tables: samples, ... over all recordings */
	PQ_FUNCTIONS,	/* functions: perf_samples(FILE), ..., which open the file */
};

struct pq_database;

/* A table that is registered for a database. */
struct pq_module {
	struct pq_database *database;
	const struct pc_table *table;
	size_t number;		/* in pd/columns.h, of the table that is read */
	bool is_items;		/* a row for each item of its lists: stack_frames */
};

/* The tables and functions of a statement: see counts.h. */
struct pq_uses {
	unsigned int selects;
	bool counts, others;
};

struct pq_database {
	enum pq_names names;
	struct pq_recording **recordings;
	size_t count;
	struct pq_module *modules;
	/* PQ_FUNCTIONS: returns the recording of a path, which it opens if necessary, or NULL and
	 * *message, from sqlite3_malloc(). */
	struct pq_recording *(*open)(struct pq_database *d, const char *path, char **message);
	struct pq_uses uses;
	bool may_merge;			/* equal rows, in the statement that was prepared last */
	unsigned int nr_cursors;
	uint32_t rows_of_row;		/* that the current row stands for; 0: after the last */
};

/* Returns the i-th table, NULL after the last: those of pd/columns.h, and stack_frames. */
const struct pc_table *pq_table_at(size_t i);

/* Makes the tables known. `d` must live as long as `db`. Returns SQLITE_OK or another code. */
int pq_register(sqlite3 *db, struct pq_database *d);

/* Adds a recording. Returns it, or NULL and *e. */
struct pq_recording *pq_database_add(struct pq_database *d, const struct pq_input *input,
				     struct pd_error *e);

/* Frees the recordings and what pq_register() made. To be called after sqlite3_close(). */
void pq_database_free(struct pq_database *d);

#endif
