/* fuzz_columns.c - any bytes as a perf.data file: its tables are written within their memory, there
 * is a row for each SAMPLE, with its period, and the Arrow stream and the Parquet files have ends.
 *
 * The last byte chooses one of the ways to write them, so that a run is short.
 */
#include <string.h>

#include "harness.h"
#include "pd/columns.h"

struct written {
	uint64_t bytes;
	uint8_t last[8];	/* of the output */
};

static int count_bytes(void *ctx, const void *p, size_t n)
{
	struct written *w = ctx;

	w->bytes += n;
	if (n >= sizeof(w->last)) {
		memcpy(w->last, (const uint8_t *)p + n - sizeof(w->last), sizeof(w->last));
	} else {
		memmove(w->last, w->last + n, sizeof(w->last) - n);
		memcpy(w->last + sizeof(w->last) - n, p, n);
	}
	return 0;
}

struct pass {
	struct pc_columns *columns;
};

static void on_error(void *ctx, const struct pd_error *e)
{
	const struct pass *pass = ctx;

	if (pass->columns)
		pc_add_error(pass->columns, e);
}

static struct pd_reader *open_reader(struct pd_bytes in, struct pass *pass)
{
	struct pd_error e;

	return pd_reader_open_memory(in, PD_READER_OPTIONS(.memory_limit = FUZZ_MEMORY,
							   .on_error = on_error, .ctx = pass,
							   .max_expanded = 16 << 20,
							   .max_ratio = 64), &e);
}

/* Sums of all records, decompressed ones included. */
struct totals {
	uint64_t bytes, samples, period;
};

static void add_record(struct totals *t, const struct pd_record *r)
{
	uint64_t period = 0;

	t->bytes += pd_record_bytes(r).size;
	if (pd_record_type(r) != PD_RECORD_SAMPLE)
		return;
	if (!pd_record_get_number(r, "period", &period) && pd_record_attr(r))
		period = pd_attr_fixed_period(pd_record_attr(r));
	t->samples++;
	t->period += period <= INT64_MAX ? period : 0;	/* else NULL */
}

static struct pd_history *learn(struct pd_bytes in, struct totals *t)
{
	struct pass none = { NULL };
	struct pd_reader *r = open_reader(in, &none);
	const struct pd_record *record;
	struct pd_error e;
	struct pd_history *h = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = FUZZ_MEMORY), &e);

	FUZZ_ASSERT(h, "no history");
	while (r && pd_reader_next(r, &record, &e) == 1) {
		add_record(t, record);
		pd_history_add_record(h, record, &e);
	}
	pd_history_seal(h, r, &e);
	pd_reader_free(r);
	return h;
}

/* tables: a bit for each that is written. */
static void write_parquet(struct pd_bytes in, const struct pd_history *h, uint64_t tables)
{
	struct written files[64] = { { 0 } };
	struct pd_output outputs[64] = { { 0 } };
	struct pass pass;
	struct pd_reader *r;
	struct pd_error e;

	pass.columns =
		pc_new(PC_OPTIONS(.history = h, .memory_limit = FUZZ_MEMORY,
				  .with = PC_GROUP_ALL, .tables = tables), &e);
	FUZZ_ASSERT(pass.columns, "no tables");
	for (size_t i = 0; i < pc_nr_tables(); i++)
		if (tables >> i & 1)
			outputs[i] = (struct pd_output){ count_bytes, &files[i] };
	r = open_reader(in, &pass);
	if (r && pc_write_parquet(pass.columns, r, outputs, &e) == 0)
		for (size_t i = 0; i < pc_nr_tables(); i++)
			FUZZ_ASSERT(!outputs[i].write || memcmp(files[i].last + 4, "PAR1", 4) == 0,
				    "no end");
	pc_free(pass.columns);
	pd_reader_free(r);
}

static void write_arrow(struct pd_bytes in, const struct pd_history *h, size_t table)
{
	static const uint8_t end[8] = { 0xff, 0xff, 0xff, 0xff };
	struct written out = { 0 };
	struct pass pass;
	struct pd_reader *r;
	struct pd_error e;

	pass.columns = pc_new(PC_OPTIONS(.history = h, .memory_limit = FUZZ_MEMORY,
					 .tables = 1ull << table), &e);
	FUZZ_ASSERT(pass.columns, "no tables");
	r = open_reader(in, &pass);
	if (r && pc_write_arrow(pass.columns, r, table, (struct pd_output){ count_bytes, &out },
				&e) == 0)
		FUZZ_ASSERT(memcmp(out.last, end, sizeof(end)) == 0, "no end");
	pc_free(pass.columns);
	pd_reader_free(r);
}

/* Adds the rows of a batch of samples. */
static void add_batch(struct totals *t, const struct ArrowArray *batch, int64_t column)
{
	const struct ArrowArray *periods = batch->children[column];
	const uint8_t *valid = periods->buffers[0];
	const int64_t *values = periods->buffers[1];

	t->samples += (uint64_t)batch->length;
	for (int64_t i = 0; i < periods->length; i++)
		if (!valid || valid[i / 8] >> i % 8 & 1)
			t->period += (uint64_t)values[i];
}

static int64_t column_of(struct ArrowArrayStream *stream, const char *name)
{
	struct ArrowSchema schema;
	int64_t i = 0;

	FUZZ_ASSERT(stream->get_schema(stream, &schema) == 0, "no schema");
	while (i < schema.n_children && strcmp(schema.children[i]->name, name) != 0)
		i++;
	FUZZ_ASSERT(i < schema.n_children, "no column %s", name);
	schema.release(&schema);
	return i;
}

/* Counts what a stream of the samples has to its end. */
static void read_stream(struct pd_bytes in, const struct pd_history *h, const struct totals *want)
{
	struct totals have = { 0 };
	struct ArrowArrayStream stream;
	struct ArrowArray batch;
	struct pass pass;
	struct pd_reader *r;
	struct pd_error e;
	size_t table;
	int64_t column;
	int ret;

	FUZZ_ASSERT(pc_table_find("samples", &table), "no samples");
	pass.columns = pc_new(PC_OPTIONS(.history = h, .memory_limit = FUZZ_MEMORY,
					 .tables = 1ull << table), &e);
	FUZZ_ASSERT(pass.columns, "no tables");
	r = open_reader(in, &pass);
	if (r && pc_open_stream(pass.columns, r, table, (struct pc_owner){ NULL, NULL }, &stream,
				&e) == 0) {
		column = column_of(&stream, "period");
		while ((ret = stream.get_next(&stream, &batch)) == 0 && batch.release) {
			add_batch(&have, &batch, column);
			batch.release(&batch);
		}
		FUZZ_ASSERT(ret || (have.samples == want->samples && have.period == want->period),
			    "%llu samples of period %llu, not %llu of %llu",
			    (unsigned long long)have.samples, (unsigned long long)have.period,
			    (unsigned long long)want->samples, (unsigned long long)want->period);
		stream.release(&stream);
	}
	pc_free(pass.columns);
	pd_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pd_bytes in = { data, size };
	const uint64_t from = fuzz_cpu_time();
	const unsigned int choice = size ? data[size - 1] : 0;
	const size_t table = choice / 4 % (pc_nr_tables() + 1);	/* the last one: all of them */
	struct totals totals = { 0 };
	struct pd_history *h = learn(in, &totals);

	if (choice % 4 == 0)
		write_parquet(in, h, table == pc_nr_tables() ? (1ull << table) - 1 : 1ull << table);
	else if (choice % 4 == 1)
		write_arrow(in, h, table % pc_nr_tables());
	else
		read_stream(in, h, &totals);
	pd_history_free(h);
	fuzz_check_time(from, size + totals.bytes);
	return 0;
}
