/* fuzz_columns.c - any bytes as a perf.data file: its tables are written within their memory, there
 * is a row for each SAMPLE, and the Arrow stream and the Parquet files have ends.
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

/* Includes decompressed records. */
static uint64_t count_record_bytes(struct pd_bytes in)
{
	struct pass none = { NULL };
	struct pd_reader *r = open_reader(in, &none);
	const struct pd_record *record;
	struct pd_error e;
	uint64_t sum = 0;

	while (r && pd_reader_next(r, &record, &e) == 1)
		sum += pd_record_bytes(record).size;
	pd_reader_free(r);
	return sum;
}

static struct pd_history *learn(struct pd_bytes in)
{
	struct pass none = { NULL };
	struct pd_reader *r = open_reader(in, &none);
	struct pd_error e;
	struct pd_history *h = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = FUZZ_MEMORY), &e);

	FUZZ_ASSERT(h, "no history");
	if (r)
		pd_history_learn(h, r, &e);
	pd_history_seal(h, r, &e);
	pd_reader_free(r);
	return h;
}

static void write_parquet(struct pd_bytes in, const struct pd_history *h)
{
	struct written files[64] = { { 0 } };
	struct pd_output outputs[64] = { { 0 } };
	struct pass pass;
	struct pd_reader *r;
	struct pd_error e;

	pass.columns =
		pc_new(PC_OPTIONS(.history = h, .memory_limit = FUZZ_MEMORY,
				  .with = PC_GROUP_ALL), &e);
	FUZZ_ASSERT(pass.columns, "no tables");
	for (size_t i = 0; i < pc_nr_tables(); i++)
		outputs[i] = (struct pd_output){ count_bytes, &files[i] };
	r = open_reader(in, &pass);
	if (r && pc_write_parquet(pass.columns, r, outputs, &e) == 0)
		for (size_t i = 0; i < pc_nr_tables(); i++)
			FUZZ_ASSERT(memcmp(files[i].last + 4, "PAR1", 4) == 0, "no end");
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pd_bytes in = { data, size };
	const uint64_t from = fuzz_cpu_time();
	struct pd_history *h = learn(in);

	write_parquet(in, h);
	write_arrow(in, h, size % pc_nr_tables());
	pd_history_free(h);
	fuzz_check_time(from, size + count_record_bytes(in));
	return 0;
}
