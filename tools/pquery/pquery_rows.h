/* pquery_rows.h - the rows of a query as a table, CSV or JSON. */
#ifndef PD_TOOLS_PQUERY_ROWS_H
#define PD_TOOLS_PQUERY_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "files/output.h"

enum rows_format { ROWS_TABLE, ROWS_CSV, ROWS_JSON };

extern const char *const rows_words[];

struct rows {
	enum rows_format format;
	struct output *out;
	/* Called before the first row is written. */
	void (*before)(void *ctx);
	void *ctx;

	sqlite3_stmt *statement;
	int columns;
	size_t count;		/* rows */
	size_t results;		/* of statements before this one */
	/* ROWS_TABLE: the first rows wait until the widths are known. */
	char **texts;
	size_t nr_texts, capacity, bytes;
	size_t *widths;
	bool *are_numbers;
	char **keys;		/* ROWS_JSON: a different one for each column */
	bool failed;		/* without memory */
};

/* Each returns 0, or -1: without memory, or because the output failed. */
int rows_begin(struct rows *r, sqlite3_stmt *statement);
/* Writes the statement's row. */
int rows_add(struct rows *r);
/* Ends the result; `is_whole`: no error came. */
int rows_end(struct rows *r, bool is_whole);

#endif
