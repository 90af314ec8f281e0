/* columns_stream.c - a shared library for tests: a table of a file as an ArrowArrayStream. */
#include <stdlib.h>

#include <pd/columns.h>

struct owned {
	struct pd_history *history;
	struct pd_reader *reader;
	struct pc_columns *columns;
};

static int nr_owned;

static void free_owned(void *ctx)
{
	struct owned *o = ctx;

	pc_free(o->columns);
	pd_reader_free(o->reader);
	pd_history_free(o->history);
	free(o);
	nr_owned--;
}

/* How many streams were opened and not released. */
int stream_count(void);
int stream_count(void)
{
	return nr_owned;
}

static void learn(struct pd_history *h, const char *path)
{
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_path(path, NULL, &e);

	pd_history_learn(h, r, &e);
	pd_history_seal(h, r, &e);
	pd_reader_free(r);
}

static void add_error(void *ctx, const struct pd_error *e)
{
	struct owned *o = ctx;

	pc_add_error(o->columns, e);
}

/* memory: the limit, 0: the usual one; stop_at: the severity that ends reading. Returns 0, or the
 * code of the error. */
int stream_open(const char *path, const char *table, uint32_t with, uint64_t memory,
		enum pd_severity stop_at, struct ArrowArrayStream *out);
int stream_open(const char *path, const char *table, uint32_t with, uint64_t memory,
		enum pd_severity stop_at, struct ArrowArrayStream *out)
{
	struct owned *o = calloc(1, sizeof(*o));
	struct pd_error e = { 0 };
	size_t number;

	nr_owned++;
	o->history = pd_history_new(NULL, &e);
	learn(o->history, path);
	if (!pc_table_find(table, &number)) {
		free_owned(o);
		return PD_E_ARGUMENT;
	}
	o->columns = pc_new(PC_OPTIONS(.history = o->history, .with = with, .path = path,
				       .memory_limit = memory), &e);
	if (o->columns)
		o->reader = pd_reader_open_path(path, PD_READER_OPTIONS(.on_error = add_error,
									.stop_at = stop_at,
									.ctx = o), &e);
	if (!o->reader || pc_open_stream(o->columns, o->reader, number,
					 (struct pc_owner){ free_owned, o }, out, &e)) {
		free_owned(o);
		return e.code ? (int)e.code : -1;
	}
	return 0;
}
