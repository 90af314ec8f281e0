/* pdecode_columns.c - tables of columns: see pdecode_columns.h. */
#include "pdecode/pdecode_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/source.h"

static const char *const engines[] = { "duckdb", "clickhouse", "spark", "sqlite" };

enum { NR_ENGINES = sizeof(engines) / sizeof(engines[0]) };

const char *column_table_word(size_t i, char *buf, size_t size)
{
	(void)buf;
	(void)size;
	return i < pc_nr_tables() ? pc_table_at(i)->name : NULL;
}

const char *column_group_word(size_t i, char *buf, size_t size)
{
	(void)buf;
	(void)size;
	return pc_group_name(i);
}

static size_t find_engine(const char *name)
{
	size_t i = 0;

	while (i < NR_ENGINES && strcmp(engines[i], name) != 0)
		i++;
	return i;
}

/* Adds the groups of a comma list. Returns the first that does not exist, or NULL. */
static const char *find_groups(const char *list, char *name, size_t size, uint32_t *groups)
{
	size_t length;
	const char *item;

	while ((item = cli_next_item(&list, &length))) {
		uint32_t group;

		snprintf(name, size, "%.*s", (int)(length < size ? length : size - 1), item);
		group = pc_group_find(name);
		if (!group)
			return name;
		*groups |= group;
	}
	return NULL;
}

static enum cli_exit refuse_group(const struct cli_tool *tool, const char *name)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t i = 0; pc_group_name(i) && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 pc_group_name(i));
	return cli_usage(tool, "no group '%s': '--with' takes %s", name, known);
}

enum cli_exit column_check(const struct cli_tool *tool, const struct column_settings *s)
{
	uint32_t groups = 0;
	char name[64];
	size_t i;

	if (s->table && !pc_table_find(s->table, &i))
		return cli_usage(tool, "no table '%s': see '--ddl=duckdb'", s->table);
	if (s->ddl && find_engine(s->ddl) == NR_ENGINES)
		return cli_usage(tool, "'--ddl' must be duckdb, clickhouse, spark or sqlite, "
				 "not '%s'", s->ddl);
	for (i = 0; i < s->with.count; i++)
		if (find_groups(s->with.items[i], name, sizeof(name), &groups))
			return refuse_group(tool, name);
	return CLI_OK;
}

static void set_options(const struct column_settings *s, struct pc_options *o)
{
	char name[64];

	o->size = sizeof(*o);
	for (size_t i = 0; i < s->with.count; i++)
		find_groups(s->with.items[i], name, sizeof(name), &o->with);
	o->uint64 = s->int64 ? PC_AS_INT64 : PC_UNSIGNED;
	o->file_id = s->file_id;
}

enum cli_exit column_write_ddl(const struct cli_tool *tool, const struct column_settings *s,
			       const char *output)
{
	struct pc_options o = { .size = sizeof(o) };
	struct output out;
	enum cli_exit status = output_open(&out, tool, output, NULL);

	if (status == CLI_OK)
		status = output_truncate(&out);
	if (status != CLI_OK)
		return status;
	set_options(s, &o);
	pc_write_ddl((enum pc_dialect)find_engine(s->ddl), &o,
		     (struct pd_output){ output_write, &out });
	return output_close(&out, CLI_OK);
}

struct pc_columns *column_make(const struct column_settings *s, const struct pc_options *o)
{
	struct pc_options options = *o;
	struct pd_error e;

	set_options(s, &options);
	return pc_new(&options, &e);
}

static int add_error(void *state, const struct pd_error *e)
{
	pc_add_error(state, e);
	return 0;
}

static void free_columns(void *state)
{
	pc_free(state);
}

struct pd_sink *column_sink(struct pc_columns *c)
{
	const struct pd_sink_ops ops = { .size = sizeof(ops), .error = add_error,
					 .free = free_columns };
	struct pd_sink *sink = c ? pd_sink_new(&ops, c) : NULL;

	if (!sink)
		pc_free(c);
	return sink;
}

size_t column_table(const struct column_settings *s)
{
	size_t i = 0;

	pc_table_find(s->table ? s->table : "samples", &i);
	return i;
}

/* --- the files of a directory --- */

static bool is_mark(size_t table)
{
	return strcmp(pc_table_at(table)->name, "files") == 0;
}

static enum cli_exit open_file(struct column_files *f, size_t table)
{
	struct atomic_output *const place = &f->place;
	const struct atomic_output_file *file = &place->main;
	char name[64];

	snprintf(name, sizeof(name), "%s.parquet", pc_table_at(table)->name);
	if (!is_mark(table) && atomic_output_open_other(place, name) < 0) {
		cli_error(place->tool, "%s%s: %s", place->directory, name,
			  strerror(place->other_error));
		return CLI_OUTPUT;
	}
	if (!is_mark(table))
		file = &place->others[place->nr_others - 1];
	return output_open_fd(&f->outputs[table], place->tool, file->path, file->fd);
}

enum cli_exit column_files_open(struct column_files *f, const struct cli_tool *tool,
				const char *directory, const struct input *in)
{
	const size_t n = pc_nr_tables();
	struct stat source = { 0 };
	const bool has_source = source_stat(in->path, in->fd, &source);
	enum cli_exit status;

	source.st_mode |= 0600;		/* tables of a recording that only can be read, too */
	f->outputs = calloc(n, sizeof(*f->outputs));
	if (!f->outputs) {
		cli_error(tool, "out of memory");
		return CLI_OUTPUT;
	}
	for (size_t i = 0; i < n; i++)
		f->outputs[i].fd = -1;
	status = atomic_output_open_in(&f->place, tool, directory, "files.parquet",
				       has_source ? &source : NULL);
	for (size_t i = 0; i < n && status == CLI_OK; i++)
		status = open_file(f, i);
	return status;
}

int column_files_write(struct column_files *f, struct pc_columns *c, struct pd_reader *r,
		       struct pd_error *e)
{
	struct pd_output *outputs = calloc(pc_nr_tables(), sizeof(*outputs));
	int ret;

	*e = (struct pd_error){ .code = PD_E_NOMEM, .severity = PD_FATAL };
	if (!outputs)
		return -1;
	for (size_t i = 0; i < pc_nr_tables(); i++)
		outputs[i] = (struct pd_output){ output_write, &f->outputs[i] };
	ret = pc_write_parquet(c, r, outputs, e);
	free(outputs);
	return ret;
}

bool column_files_failed(const struct column_files *f)
{
	for (size_t i = 0; i < pc_nr_tables(); i++)
		if (f->outputs[i].error)
			return true;
	return false;
}

enum cli_exit column_files_close(struct column_files *f, enum cli_exit status)
{
	for (size_t i = 0; i < pc_nr_tables() && status <= CLI_ERRORS; i++)
		status = output_close(&f->outputs[i], status);
	return status;
}

enum cli_exit column_files_commit(struct column_files *f)
{
	return atomic_output_commit(&f->place);
}

void column_files_free(struct column_files *f)
{
	for (size_t i = 0; f->outputs && i < pc_nr_tables(); i++)
		output_discard(&f->outputs[i]);
	free(f->outputs);
	atomic_output_discard(&f->place);
}
