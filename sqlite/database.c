/* database.c - the tables that a database has, and its recordings. */
#include "api.h"

#include "database.h"

#include <stdlib.h>

#include "kept.h"
#include "scan.h"

static const struct pc_column stack_frames_columns[] = {
	{ "stack", PC_INT32, PC_REQUIRED, 0, 0, "number in stacks" },
	{ "position", PC_INT32, PC_REQUIRED, 0, 0, "0: innermost, markers count" },
	{ "frame", PC_INT32, PC_REQUIRED, 0, 0, "number in frames" },
};

static const struct pc_table stack_frames = {
	"stack_frames", stack_frames_columns,
	sizeof(stack_frames_columns) / sizeof(stack_frames_columns[0]),
	"entries of stacks, a row each" };

const struct pc_table *pq_table_at(size_t i)
{
	return i == pc_nr_tables() ? &stack_frames : pc_table_at(i);
}

static int register_table(sqlite3 *db, struct pq_database *d, size_t i)
{
	struct pq_module *m = &d->modules[i];
	char *name;
	int ret;

	*m = (struct pq_module){ .database = d, .table = pq_table_at(i), .number = i };
	m->is_items = m->table == &stack_frames;
	if (m->is_items)
		pc_table_find("stacks", &m->number);
	name = sqlite3_mprintf("%s%s", d->names == PQ_FUNCTIONS ? "perf_" : "", m->table->name);
	ret = name ? sqlite3_create_module(db, name, &pq_scan_module, m) : SQLITE_NOMEM;
	sqlite3_free(name);
	return ret;
}

int pq_register(sqlite3 *db, struct pq_database *d)
{
	int ret = SQLITE_OK;

	d->modules = calloc(pc_nr_tables() + 1, sizeof(*d->modules));
	if (!d->modules)
		return SQLITE_NOMEM;
	for (size_t i = 0; pq_table_at(i) && ret == SQLITE_OK; i++)
		ret = register_table(db, d, i);
	return ret;
}

struct pq_recording *pq_database_add(struct pq_database *d, const struct pq_input *input,
				     struct pd_error *e)
{
	struct pq_recording **more = realloc(d->recordings, (d->count + 1) * sizeof(*more));
	struct pq_recording *r;

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	if (!more)
		return NULL;
	d->recordings = more;
	r = pq_recording_new(input, d->count, e);
	if (!r)
		return NULL;
	r->kept = pq_kept_new();
	if (r->kept)
		return d->recordings[d->count++] = r;
	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	pq_recording_free(r);
	return NULL;
}

static void free_recording(struct pq_recording *r)
{
	pq_kept_free(r->kept);
	pq_recording_free(r);
}

void pq_database_free(struct pq_database *d)
{
	for (size_t i = 0; i < d->count; i++)
		free_recording(d->recordings[i]);
	free(d->recordings);
	free(d->modules);
	*d = (struct pq_database){ .names = d->names };
}
