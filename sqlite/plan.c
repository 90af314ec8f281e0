/* plan.c - which constraints of a query a scan makes use of.
 *
 * A plan is a text: the columns that are used as a bit mask in hex, then each constraint as its
 * operator and column, then each term of the order, "7 =0 <3 +2 -1", and "*0" if rows with the same
 * terms are the same. */
#include "api.h"

#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "values.h"

enum {
	MOST_ARGUMENTS = 16,
	BITS_OF_IN = 32,	/* constraints of which sqlite3_vtab_in() knows */
};

size_t pq_first_column(const struct pq_database *d)
{
	return d->names == PQ_FUNCTIONS ? 2 : 1;
}

bool pq_is_large(const struct pq_module *m)
{
	return strcmp(m->table->name, "samples") == 0 || strcmp(m->table->name, "records") == 0;
}

static const struct pc_column *column_at(const struct pq_module *m, int column)
{
	const size_t first = pq_first_column(m->database);

	if (column < 0 || (size_t)column < first)
		return NULL;
	return &m->table->columns[(size_t)column - first];
}

static bool is_named(const struct pc_column *c, const char *name)
{
	return c && strcmp(c->name, name) == 0;
}

/* Returns whether a filter can test the column of samples. */
static bool is_filtered(const struct pq_module *m, const struct pc_column *c)
{
	static const char *const names[] = { "time", "pid", "tid", "cpu", "comm", "event_name" };

	if (!c || strcmp(m->table->name, "samples") != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(c->name, names[i]) == 0)
			return true;
	return false;
}

static char operator_of(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return '<';
	default:
		return 0;
	}
}

/* --- choosing --- */

/* State of a choice. */
struct choice {
	const struct pq_module *m;
	sqlite3_index_info *info;
	sqlite3_str *text;
	int arguments;
	int key;		/* the constraint that is looked up, -1: none */
	bool has_file, lacks_file;
};

static bool is_binary(sqlite3_index_info *info, int i)
{
	const char *collation = sqlite3_vtab_collation(info, i);

	return !collation || sqlite3_stricmp(collation, "BINARY") == 0;
}

static void use_constraint(struct choice *c, int i)
{
	const struct sqlite3_index_constraint *of = &c->info->aConstraint[i];

	if (c->arguments == MOST_ARGUMENTS)
		return;
	c->info->aConstraintUsage[i].argvIndex = ++c->arguments;
	sqlite3_str_appendf(c->text, " %c%d", operator_of(of->op), of->iColumn);
}

/* A number of this very table finds at most one row. */
static bool is_unique(const struct pq_module *m, const struct pc_column *c)
{
	const size_t n = strlen(c->name);

	return !m->is_items && pq_is_number(c) && strncmp(m->table->name, c->name, n) == 0 &&
	       strcmp(m->table->name + n, "s") == 0;
}

static void consider_constraint(struct choice *c, int i)
{
	const struct sqlite3_index_constraint *of = &c->info->aConstraint[i];
	const struct pc_column *column = column_at(c->m, of->iColumn);
	const char op = operator_of(of->op);
	const bool is_before = of->iColumn >= 0 && !column;

	if (is_before && op == '=' && !of->usable) {
		c->lacks_file |= of->iColumn == 0;
		return;
	}
	if (!of->usable || !op)
		return;
	if (is_before && op == '=' && is_binary(c->info, i)) {
		c->has_file |= of->iColumn == 0;
		use_constraint(c, i);
		return;
	}
	if (!column)
		return;
	if (op == '=' && pq_is_integer(column) && (!c->m->is_items || is_named(column, "stack")) &&
	    (c->key < 0 || is_unique(c->m, column)))
		c->key = i;
	if (is_filtered(c->m, column) && (op == '=' || is_named(column, "time")) &&
	    (pq_is_integer(column) || is_binary(c->info, i)))
		use_constraint(c, i);
}

static double rows_of(const struct pq_module *m)
{
	static const struct {
		const char *name;
		double rows;
	} estimates[] = {
		{ "samples", 1e6 }, { "stack_frames", 1e6 }, { "records", 1e5 }, { "stacks", 1e5 },
		{ "switches", 1e5 }, { "frames", 1e4 }, { "maps", 1e4 }, { "comms", 1e4 },
		{ "tasks", 1e4 }, { "symbols", 1e4 },
	};

	for (size_t i = 0; i < sizeof(estimates) / sizeof(estimates[0]); i++)
		if (strcmp(estimates[i].name, m->table->name) == 0)
			return estimates[i].rows;
	return 100;
}

static void estimate(const struct choice *c)
{
	const double rows = rows_of(c->m);
	const struct pc_column *key =
		c->key < 0 ? NULL : column_at(c->m, c->info->aConstraint[c->key].iColumn);
	double found = rows;

	if (key)
		found = is_unique(c->m, key) ? 1 : rows / 1000 + 20;
	else if (c->arguments > (c->m->database->names == PQ_FUNCTIONS ? 1 : 0))
		found = rows / 10;
	c->info->estimatedRows = (sqlite3_int64)found;
	c->info->estimatedCost = pq_is_large(c->m) ? rows + found : key ? found + 2 : rows;
	if (key && is_unique(c->m, key))
		c->info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
}

/* Returns whether rows are wanted in groups: SQLite sorts them at a higher cost than order.h. For
 * ORDER BY alone it may keep a few rows only. */
static bool wants_groups(sqlite3_index_info *info)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	if (!info->nOrderBy || sqlite3_libversion_number() < 3038000)
		return false;
	/* A scan for each value of IN, after which SQLite sorts. */
	for (int i = 0; i < info->nConstraint; i++)
		if (info->aConstraintUsage[i].argvIndex && sqlite3_vtab_in(info, i, -1))
			return false;
	return info->nConstraint < BITS_OF_IN && sqlite3_vtab_distinct(info);
#else
	(void)info;
	return false;
#endif
}

/* Returns whether a row for each record fits into half of the memory. Others are sorted by SQLite,
 * with temporary files. */
static bool fits_in_memory(const struct pq_recording *r, uint64_t columns)
{
	const unsigned int used = (unsigned int)__builtin_popcountll(columns);

	return r->records < r->input.memory / 2 / (PQ_BYTES_TO_ORDER + used * sizeof(uint64_t));
}

/* Chooses the order, of a whole pass over one recording. */
static void choose_order(struct choice *c)
{
	const struct pq_database *d = c->m->database;
	const int n = c->info->nOrderBy;
	bool may_merge = true;
	uint64_t terms = 0;

	if (!wants_groups(c->info) || n > PQ_MOST_TERMS || c->key >= 0 || !pq_is_large(c->m) ||
	    d->names != PQ_TABLES || d->count != 1 ||
	    !fits_in_memory(d->recordings[0], c->info->colUsed))
		return;
	for (int i = 0; i < n; i++) {
		const int term = c->info->aOrderBy[i].iColumn;
		const struct pc_column *column = column_at(c->m, term);

		if (!column || !pq_is_ordered(column))
			return;
		may_merge &= pq_is_merged(column);
		terms |= 1ull << term;
	}
	for (int i = 0; i < n; i++)
		sqlite3_str_appendf(c->text, " %c%d", c->info->aOrderBy[i].desc ? '-' : '+',
				    c->info->aOrderBy[i].iColumn);
	if (may_merge && !(c->info->colUsed & ~terms))
		sqlite3_str_appendall(c->text, " *0");
	c->info->orderByConsumed = 1;
}

int pq_plan_choose(const struct pq_module *m, sqlite3_index_info *info, char **message)
{
	struct choice c = { .m = m, .info = info, .key = -1 };
	char *text;

	c.text = sqlite3_str_new(NULL);
	sqlite3_str_appendf(c.text, "%llx", (unsigned long long)info->colUsed);
	for (int i = 0; i < info->nConstraint; i++)
		consider_constraint(&c, i);
	if (c.key >= 0 && !info->aConstraintUsage[c.key].argvIndex)
		use_constraint(&c, c.key);
	choose_order(&c);
	estimate(&c);
	text = sqlite3_str_finish(c.text);
	if (!text)
		return SQLITE_NOMEM;
	info->idxStr = text;
	info->needToFreeIdxStr = 1;
	if (m->database->names != PQ_FUNCTIONS || c.has_file)
		return SQLITE_OK;
	if (c.lacks_file)
		return SQLITE_CONSTRAINT;
	*message = sqlite3_mprintf("perf_%s('FILE'): which file?", m->table->name);
	return SQLITE_ERROR;
}

/* --- reading --- */

/* Gets an integer that equals the value. Returns false if there is none; *is_null: nothing equals
 * the value. */
static bool read_integer(sqlite3_value *value, int64_t *out, bool *is_null)
{
	double number;

	*is_null = sqlite3_value_type(value) == SQLITE_NULL;
	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		*out = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT:
		number = sqlite3_value_double(value);
		if (!(number > -9e15 && number < 9e15))
			return false;
		*out = (int64_t)number;
		return (double)*out == number;
	default:
		return false;
	}
}

static int read_text(sqlite3_value *value, char **out, bool *is_empty)
{
	const char *text;

	*is_empty |= sqlite3_value_type(value) == SQLITE_NULL;
	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return SQLITE_OK;
	text = (const char *)sqlite3_value_text(value);
	sqlite3_free(*out);
	*out = text ? sqlite3_mprintf("%s", text) : NULL;
	return *out ? SQLITE_OK : SQLITE_NOMEM;
}

/* Reads an argument of a function: `file` or `accept`. */
static int read_argument(sqlite3_value *value, char **out, struct pq_plan *p)
{
	const int ret = read_text(value, out, &p->is_empty);

	if (sqlite3_value_type(value) != SQLITE_NULL && ret == SQLITE_OK)
		p->has_strange_argument |=
			!*out || strlen(*out) != (size_t)sqlite3_value_bytes(value);
	return ret;
}

static void set_range(struct pd_range *range, bool *has, int64_t value)
{
	if (value < 0)
		return;
	*range = (struct pd_range){ (uint64_t)value, (uint64_t)value };
	*has = true;
}

static void set_time(struct pq_plan *p, char op, int64_t value)
{
	const uint64_t time = value < 0 ? 0 : (uint64_t)value;

	if (op != '<' && time > p->time.from)
		p->time.from = time;
	if (op != '>' && time < p->time.to)
		p->time.to = time;
}

static void set_number(struct pq_plan *p, const struct pc_column *c, char op, int64_t value)
{
	if (is_named(c, "pid"))
		set_range(&p->pid, &p->has_pid, value);
	else if (is_named(c, "tid"))
		set_range(&p->tid, &p->has_tid, value);
	else if (is_named(c, "cpu"))
		set_range(&p->cpu, &p->has_cpu, value);
	else if (is_named(c, "time"))
		set_time(p, op, value);
}

static int read_constraint(const struct pq_module *m, struct pq_plan *p, char op, int column,
			   sqlite3_value *value)
{
	const struct pc_column *c = column_at(m, column);
	bool is_null = false;
	int64_t number;

	if (!c)
		return read_argument(value, column ? &p->accept : &p->file, p);
	if (is_named(c, "comm") && is_filtered(m, c))
		return read_text(value, &p->comm, &p->is_empty);
	if (is_named(c, "event_name") && is_filtered(m, c))
		return read_text(value, &p->event_name, &p->is_empty);
	if (read_integer(value, &number, &is_null)) {
		if (is_filtered(m, c))
			set_number(p, c, op, number);
		if (op == '=' && (!p->has_key || is_unique(m, c))) {
			p->has_key = true;
			p->key_column = (size_t)column - pq_first_column(m->database);
			p->key = number;
		}
	}
	p->is_empty |= is_null;
	return SQLITE_OK;
}

static void add_term(const struct pq_module *m, struct pq_plan *p, char op, int column)
{
	const size_t i = (size_t)column - pq_first_column(m->database);

	p->order[p->nr_order++] = (struct pq_term){ i, op == '-' ? PQ_DESCENDING : PQ_ASCENDING };
	p->columns |= 1ull << i;
}

/* The columns of pd/columns.h that a scan reads, lists of structs in place of their members. Those
 * of a table that may be kept are read at once. */
static uint64_t choose_columns(const struct pq_module *m, uint64_t used)
{
	const struct pc_table *t = pc_table_at(m->number);
	uint64_t all = 0;

	uint64_t chosen = 0;

	used >>= pq_first_column(m->database);
	for (size_t i = 0; i < t->nr_columns; i++) {
		const size_t column = t->columns[i].list ? t->columns[i].list : i;

		all |= 1ull << column;
		chosen |= (used >> i & 1) << column;
	}
	return !pq_is_large(m) ? all : chosen ? chosen : 1;
}

/* The numbers of stacks count all samples: a filter would change them. */
static bool may_filter(const struct pq_module *m, const struct pq_plan *p)
{
	for (size_t i = 0; i < m->table->nr_columns; i++)
		if (p->columns >> i & 1 && (is_named(&m->table->columns[i], "frame") ||
					    is_named(&m->table->columns[i], "stack")))
			return false;
	return p->has_pid || p->has_tid || p->has_cpu || p->comm || p->event_name ||
	       p->time.from || p->time.to != UINT64_MAX;
}

int pq_plan_read(const struct pq_module *m, const char *text, sqlite3_value **values,
		 struct pq_plan *out)
{
	char *rest;
	int ret = SQLITE_OK;

	*out = (struct pq_plan){ .time = { 0, UINT64_MAX } };
	out->columns = choose_columns(m, strtoull(text, &rest, 16));
	for (size_t i = 0; *rest == ' ' && ret == SQLITE_OK; i++) {
		const char op = rest[1];
		const int column = (int)strtol(rest + 2, &rest, 10);

		if (op == '+' || op == '-')
			add_term(m, out, op, column);
		else if (op == '*')
			out->may_merge = true;
		else
			ret = read_constraint(m, out, op, column, values[i]);
	}
	if (out->has_key && pq_is_large(m))
		out->columns |= 1ull << out->key_column;
	out->filters = may_filter(m, out);
	return ret;
}

void pq_plan_free(struct pq_plan *p)
{
	sqlite3_free(p->file);
	sqlite3_free(p->accept);
	sqlite3_free(p->comm);
	sqlite3_free(p->event_name);
	*p = (struct pq_plan){ .is_empty = true };
}
