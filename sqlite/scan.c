/* scan.c - the virtual table of SQLite: a scan over the rows of recordings. */
#include "api.h"

#include "scan.h"

#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "plan.h"
#include "table_read.h"
#include "values.h"

enum { SCANS_BEFORE_KEEPING = 2 };
enum { ITEM_BITS = 16 };	/* of a row's number: a record has no more */

/* Columns of stacks and of stack_frames. */
enum { STACKS_STACK = 1, STACKS_FRAMES = 2 };
enum { ITEMS_STACK, ITEMS_POSITION, ITEMS_FRAME };

struct table {
	sqlite3_vtab base;
	const struct pq_module *module;
};

struct cursor {
	sqlite3_vtab_cursor base;
	const struct pq_module *module;
	struct pq_plan plan;
	bool is_first;			/* when it was opened, there was no other */
	size_t next, end;		/* recordings */
	struct pq_recording *recording;	/* of the row; NULL: after the last */

	struct ArrowArrayStream stream;	/* of a pass, or */
	struct ArrowArray own;		/* its batch */
	struct pq_table *kept;		/* a table in memory */
	const struct pq_lookup *lookup;	/* NULL: all its rows */
	uint32_t *order;		/* of all its rows; NULL: as they are */
	size_t at, last;		/* in the lookup or order, or rows */

	const struct ArrowArray *batch;	/* of the row */
	uint64_t columns;		/* of the batch */
	int64_t row;
	int64_t item, items, first_item;	/* of its list */
	int64_t number;			/* of the row in its recording, from 1; of a filtered pass
					 * in what is left */
};

static int set_message(struct cursor *c, const struct pd_error *e)
{
	char text[512];

	sqlite3_free(c->base.pVtab->zErrMsg);
	if (pd_code_is_of_memory(e->code)) {
		c->base.pVtab->zErrMsg = NULL;
		return SQLITE_NOMEM;
	}
	c->base.pVtab->zErrMsg = sqlite3_mprintf("%s: %s", c->recording->name,
						 pd_error_text(e, text, sizeof(text)));
	return SQLITE_ERROR;
}

/* --- rows --- */

static void end_recording(struct cursor *c)
{
	if (c->own.release)
		c->own.release(&c->own);
	if (c->stream.release)
		c->stream.release(&c->stream);
	if (c->kept && c->kept->counts)
		c->module->database->rows_of_row = 0;
	pq_table_release(c->kept);
	free(c->order);
	c->kept = NULL;
	c->lookup = NULL;
	c->order = NULL;
	c->batch = NULL;
	c->recording = NULL;
}

static void make_filter(const struct pq_plan *p, struct pd_filter_options *o)
{
	*o = (struct pd_filter_options){ .size = sizeof(*o), .time = &p->time };
	o->pids = (struct pd_ranges){ &p->pid, p->has_pid };
	o->tids = (struct pd_ranges){ &p->tid, p->has_tid };
	o->cpus = (struct pd_ranges){ &p->cpu, p->has_cpu };
	o->comms = (struct pd_globs){ (const char *const *)&p->comm, p->comm != NULL };
	o->events = (struct pd_globs){ (const char *const *)&p->event_name,
				       p->event_name != NULL };
}

static int start_pass(struct cursor *c)
{
	struct pd_filter_options filter;
	struct pd_error e;

	make_filter(&c->plan, &filter);
	c->columns = c->plan.columns;
	return pq_recording_scan(c->recording, &(struct pq_scan){
		.table = c->module->number, .columns = c->plan.columns,
		.filter = c->plan.filters ? &filter : NULL }, &c->stream, &e) ? set_message(c, &e) :
		SQLITE_OK;
}

/* Returns whether the key is a number that belongs to one recording. */
static bool has_own_key(const struct cursor *c)
{
	return c->plan.has_key &&
	       pq_is_number(&c->module->table->columns[c->plan.key_column]);
}

static int start_kept(struct cursor *c)
{
	struct pq_found found = { 0, c->kept->rows };
	/* stack_frames are found by their stack */
	const size_t column = c->module->is_items ? STACKS_STACK : c->plan.key_column;
	const struct pc_table *t = pc_table_at(c->module->number);
	const int64_t base = has_own_key(c) ? c->recording->base : 0;

	c->columns = c->kept->columns;
	if (c->plan.nr_order) {
		c->order = pq_order_rows(c->kept, t->columns, c->plan.order, c->plan.nr_order);
		if (!c->order)
			return SQLITE_NOMEM;
	} else if (c->plan.has_key) {
		c->lookup = pq_table_find(c->kept, &t->columns[column], column,
					  c->plan.key - base, &found);
		if (!c->lookup)
			return SQLITE_NOMEM;
	}
	c->at = found.first;
	c->last = found.first + found.count;
	return SQLITE_OK;
}

static bool is_merged(const struct cursor *c)
{
	const struct pq_database *d = c->module->database;

	return c->plan.may_merge && d->may_merge && d->nr_cursors == 1;
}

/* Reads the rows at once, to be in order. */
static int start_ordered(struct cursor *c)
{
	struct pd_filter_options filter;
	struct pq_wanted wanted = { .scan.table = c->module->number,
				    .scan.columns = c->plan.columns,
				    .scan.filter = c->plan.filters ? &filter : NULL,
				    .row_bytes = PQ_BYTES_TO_ORDER,
				    .equal = is_merged(c) ? PQ_MERGED : PQ_EACH };
	struct pd_error e;
	int ret;

	make_filter(&c->plan, &filter);
	ret = pq_table_read(c->recording, &wanted, &c->kept, &e);
	if (ret == SQLITE_OK)
		return start_kept(c);
	return ret == SQLITE_ERROR ? set_message(c, &e) : SQLITE_NOMEM;
}

static int start_recording(struct cursor *c)
{
	struct pq_recording *r = c->recording = c->module->database->recordings[c->next++];
	const unsigned int scans = pq_kept_count(r->kept, c->module->number);
	struct pd_error e;
	int ret;

	c->number = 0;
	if (is_merged(c))
		return start_ordered(c);
	if ((c->plan.has_key && !pq_is_large(c->module)) || scans >= SCANS_BEFORE_KEEPING) {
		ret = pq_kept_get(r, c->module->number, c->plan.columns, &c->kept, &e);
		if (ret != SQLITE_OK)
			return ret == SQLITE_NOMEM ? ret : set_message(c, &e);
		if (c->kept)
			return start_kept(c);
	}
	return c->plan.nr_order ? start_ordered(c) : start_pass(c);
}

/* Returns whether there is another row of a table in memory, and goes to it. */
static bool next_kept_row(struct cursor *c)
{
	size_t row;

	if (c->at >= c->last)
		return false;
	row = c->lookup ? c->lookup->entries[c->at].row : c->order ? c->order[c->at] : c->at;
	c->at++;
	c->number = (int64_t)row + 1;
	c->batch = pq_table_row(c->kept, row, &c->row);
	if (c->kept->counts)
		c->module->database->rows_of_row = c->kept->counts[row];
	return true;
}

/* Goes to the next row of the recording. *is_row: there is one. */
static int next_row(struct cursor *c, bool *is_row)
{
	int ret;

	*is_row = true;
	if (c->kept) {
		*is_row = next_kept_row(c);
		return SQLITE_OK;
	}
	c->row++;
	c->number++;
	while (!c->own.release || c->row >= c->own.length) {
		if (c->own.release)
			c->own.release(&c->own);
		ret = pq_recording_next(c->recording, &c->stream, &c->own);
		*is_row = ret == SQLITE_OK && c->own.release;
		if (!*is_row)
			return ret;
		c->row = 0;
	}
	c->batch = &c->own;
	return SQLITE_OK;
}

static const struct ArrowArray *array_of(const struct cursor *c, size_t column)
{
	const struct pc_table *t = pc_table_at(c->module->number);

	if (t->columns[column].list)
		column = t->columns[column].list;
	return c->batch->children[pq_child(c->columns, column)];
}

static void start_items(struct cursor *c)
{
	c->item = 0;
	c->items = c->module->is_items ?
		pq_items(array_of(c, STACKS_FRAMES), c->row, &c->first_item) : 1;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	bool is_row;
	int ret = SQLITE_OK;

	if (c->recording && ++c->item < c->items)
		return SQLITE_OK;
	do {
		is_row = false;
		if (c->recording)
			ret = next_row(c, &is_row);
		if (is_row) {
			start_items(c);
		} else {
			end_recording(c);
			if (ret != SQLITE_OK || c->next == c->end)
				return ret;
			ret = start_recording(c);
		}
	} while (ret == SQLITE_OK && (!is_row || !c->items));
	return ret;
}

/* --- the interface --- */

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **out, char **message)
{
	const struct pq_module *m = aux;
	sqlite3_str *sql = sqlite3_str_new(db);
	struct table *t = sqlite3_malloc(sizeof(*t));
	char *text;
	int ret;

	(void)argc;
	(void)argv;
	(void)message;
	sqlite3_str_appendf(sql, "CREATE TABLE x(file TEXT%s", m->database->count > 1 &&
			    m->database->names == PQ_TABLES ? "" : " HIDDEN");
	if (m->database->names == PQ_FUNCTIONS)
		sqlite3_str_appendall(sql, ", accept TEXT HIDDEN");
	for (size_t i = 0; i < m->table->nr_columns; i++) {
		const struct pc_column *c = &m->table->columns[i];
		char name[PQ_NAME_SIZE];

		sqlite3_str_appendf(sql, ", \"%w\" %s%s", pq_column_name(m->table, i, name),
				    pq_type_name(c), pq_is_hidden(c) ? " HIDDEN" : "");
	}
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	ret = text && t ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	/* A view of a strange database must not open files. */
	if (ret == SQLITE_OK && m->database->names == PQ_FUNCTIONS)
		ret = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
	if (ret != SQLITE_OK) {
		sqlite3_free(t);
		return ret;
	}
	*t = (struct table){ .module = m };
	*out = &t->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int table_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
	return pq_plan_choose(((struct table *)table)->module, info, &table->zErrMsg);
}

static int cursor_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
	struct cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->module = ((struct table *)table)->module;
	c->is_first = !c->module->database->nr_cursors++;
	*out = &c->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;

	end_recording(c);
	pq_plan_free(&c->plan);
	c->module->database->nr_cursors--;
	free(c);
	return SQLITE_OK;
}

static bool shows_damage(const struct pq_module *m)
{
	return strcmp(m->table->name, "errors") == 0 || strcmp(m->table->name, "files") == 0;
}

/* Opens the file of a function. Part of it is not taken for the whole. */
static int open_file(struct cursor *c)
{
	struct pq_database *d = c->module->database;
	const char *table = c->module->table->name;
	char **message = &c->base.pVtab->zErrMsg;
	struct pq_recording *r;

	sqlite3_free(*message);
	*message = NULL;
	if (c->plan.has_strange_argument)
		*message = sqlite3_mprintf("perf_%s('FILE', 'damaged'): both are texts without "
					   "zero bytes", table);
	else if (!c->plan.file)
		*message = sqlite3_mprintf("perf_%s('FILE'): which file?", table);
	if (*message)
		return SQLITE_ERROR;
	r = d->open(d, c->plan.file, message);
	if (!r)
		return SQLITE_ERROR;
	if (r->errors && !shows_damage(c->module) &&
	    !(c->plan.accept && strcmp(c->plan.accept, "damaged") == 0)) {
		*message = sqlite3_mprintf("%s: %llu damaged parts, see perf_errors('FILE'); "
					   "perf_%s('FILE', 'damaged') reads the rest", r->name,
					   (unsigned long long)r->errors, table);
		return SQLITE_ERROR;
	}
	for (c->next = 0; d->recordings[c->next] != r; c->next++)
		;
	c->end = c->next + 1;
	return SQLITE_OK;
}

/* Leaves the one recording whose number the key can be. */
static void choose_by_key(struct cursor *c)
{
	const int64_t i = c->plan.key >> PQ_BASE_SHIFT;

	if (i < (int64_t)c->next || i >= (int64_t)c->end) {
		c->next = c->end;
	} else {
		c->next = (size_t)i;
		c->end = c->next + 1;
	}
}

/* Selects the recordings that a constraint on `file` leaves. */
static void choose_files(struct cursor *c)
{
	const struct pq_database *d = c->module->database;

	c->next = 0;
	c->end = d->count;
	if (!c->plan.file)
		return;
	while (c->next < c->end && strcmp(d->recordings[c->next]->name, c->plan.file) != 0)
		c->next++;
	while (c->end > c->next && strcmp(d->recordings[c->end - 1]->name, c->plan.file) != 0)
		c->end--;
}

static int cursor_filter(sqlite3_vtab_cursor *cursor, int number, const char *text, int argc,
			 sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	int ret;

	(void)number;
	(void)argc;
	end_recording(c);
	pq_plan_free(&c->plan);
	ret = pq_plan_read(c->module, text, argv, &c->plan);
	if (ret != SQLITE_OK)
		return ret;
	choose_files(c);
	if (c->module->database->names == PQ_FUNCTIONS)
		ret = open_file(c);
	c->plan.filters &= c->is_first;
	if (c->plan.is_empty)
		c->next = c->end;
	if (has_own_key(c))
		choose_by_key(c);
	return ret == SQLITE_OK ? cursor_next(cursor) : ret;
}

static int cursor_eof(sqlite3_vtab_cursor *cursor)
{
	return !((struct cursor *)cursor)->recording;
}

/* The same row has the same number in each scan: for OR, SQLite makes a scan for each condition,
 * and drops rows that it had; for RIGHT and FULL JOIN it adds those that no scan before had. A
 * filtered pass does not know the numbers of its rows. So only the first table is filtered, which
 * is on the left, unless what is there is no table of a recording. */
static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	const struct cursor *c = (const struct cursor *)cursor;

	if (c->plan.filters) {
		sqlite3_free(c->base.pVtab->zErrMsg);
		c->base.pVtab->zErrMsg = sqlite3_mprintf(
			"%s has no row numbers here: in conditions of RIGHT and FULL JOIN, "
			"write +COLUMN for its columns", c->module->table->name);
		return SQLITE_ERROR;
	}
	*out = c->recording->base << ITEM_BITS |
	       (c->module->is_items ? c->number << ITEM_BITS | c->item : c->number);
	return SQLITE_OK;
}

static void give_item(const struct cursor *c, sqlite3_context *to, size_t column)
{
	const struct pc_column *columns = pc_table_at(c->module->number)->columns;
	struct pq_value v = { array_of(c, STACKS_STACK), &columns[STACKS_STACK], c->row,
			      c->recording->base };

	if (column == ITEMS_POSITION) {
		sqlite3_result_int64(to, c->item);
		return;
	}
	if (column == ITEMS_FRAME) {
		v.array = array_of(c, STACKS_FRAMES)->children[0];
		v.row = c->first_item + c->item;
	}
	pq_give(to, &v);
}

/* Returns what is added to a column's numbers. The column's name is not looked up for each row if
 * nothing is added to any number, as in the first recording. */
static sqlite3_int64 base_of(const struct cursor *c, const struct pc_column *column)
{
	const sqlite3_int64 base = c->recording->base;

	return base && (pq_has_structs(column) || pq_is_number(column)) ? base : 0;
}

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
	const struct cursor *c = (const struct cursor *)cursor;
	const size_t first = pq_first_column(c->module->database);
	const size_t i = (size_t)column - first;
	const struct pc_column *of = &c->module->table->columns[i];

	if (column == 0)
		sqlite3_result_text(to, c->recording->name, -1, SQLITE_TRANSIENT);
	else if ((size_t)column < first && c->plan.accept)
		sqlite3_result_text(to, c->plan.accept, -1, SQLITE_TRANSIENT);
	else if ((size_t)column < first)
		sqlite3_result_null(to);
	else if (c->module->is_items)
		give_item(c, to, i);
	else if (c->columns >> (of->list ? of->list : i) & 1)
		pq_give(to, &(struct pq_value){ array_of(c, i), of, c->row, base_of(c, of) });
	return SQLITE_OK;
}

const sqlite3_module pq_scan_module = {
	.iVersion = 1, .xConnect = table_connect, .xBestIndex = table_plan,
	.xDisconnect = table_disconnect, .xOpen = cursor_open, .xClose = cursor_close,
	.xFilter = cursor_filter, .xNext = cursor_next, .xEof = cursor_eof,
	.xColumn = cursor_column, .xRowid = cursor_rowid,
};
