/* fuzz_feed.c - any bytes as a recording that comes in pieces: the records and the damage are the
 * same wherever the bytes are cut, and an intact recording has the records that it has in memory.
 * The bytes decide where the cuts are.
 */
#include <string.h>

#include "harness.h"
#include "pd/feed.h"

enum { EACH = 1, SOME = 300, MANY = 1 << 16 };

/* Records and errors received, in order. */
struct taken {
	uint64_t records, errors, hash, bytes;
};

static void mix(struct taken *t, uint64_t value)
{
	t->hash = (t->hash ^ value) * 1099511628211u;
}

static void on_error(void *ctx, const struct pd_error *e)
{
	struct taken *t = ctx;

	t->errors++;
	mix(t, (uint64_t)e->code);
	mix(t, e->offset);
}

static struct pd_reader_options options(struct taken *t)
{
	return (struct pd_reader_options){ .size = sizeof(struct pd_reader_options),
					   .memory_limit = FUZZ_MEMORY, .max_expanded = 16 << 20,
					   .max_ratio = 64, .on_error = on_error, .ctx = t };
}

static void take_record(struct taken *t, const struct pd_record *r)
{
	const struct pd_bytes bytes = pd_record_bytes(r);

	t->records++;
	t->bytes += bytes.size;
	mix(t, pd_record_offset(r));
	for (size_t i = 0; i < bytes.size; i++)
		mix(t, bytes.data[i]);
}

static void take_end(struct taken *t, struct pd_reader *r)
{
	mix(t, pd_reader_nr_attrs(r));
	mix(t, pd_reader_nr_features(r));
}

/* Returns the next number of a sequence that the input begins. */
static uint32_t draw(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void feed(struct pd_bytes in, uint32_t most, struct taken *t)
{
	const struct pd_reader_options o = options(t);
	const struct pd_record *record;
	struct pd_error e = { .code = PD_OK };
	struct pd_feed *f = pd_feed_new(&o, &e);
	uint32_t state = in.size ? in.data[in.size / 2] : 0;
	size_t at = 0;
	int ret = 0;

	FUZZ_ASSERT(f, "no feed");
	while (!ret && at <= in.size) {
		size_t n = 1 + draw(&state) % most;

		n = n < in.size - at ? n : in.size - at;
		ret = n ? pd_feed_add(f, (struct pd_bytes){ in.data + at, n }, &e) :
			  pd_feed_end(f, &e);
		at += n ? n : 1;
		while (!ret && (ret = pd_feed_next(f, &record, &e)) == 1) {
			take_record(t, record);
			ret = 0;
		}
	}
	FUZZ_ASSERT(ret <= 0, "pd_feed_next() returned %d", ret);
	if (ret)
		on_error(t, &e);
	if (pd_feed_reader(f))
		take_end(t, pd_feed_reader(f));
	pd_feed_free(f);
}

static void read_memory(struct pd_bytes in, struct taken *t)
{
	const struct pd_reader_options o = options(t);
	const struct pd_record *record;
	struct pd_error e;
	struct pd_reader *r = pd_reader_open_memory(in, &o, &e);
	int ret = r ? 0 : -1;

	while (r && (ret = pd_reader_next(r, &record, &e)) == 1)
		take_record(t, record);
	if (ret)
		on_error(t, &e);
	if (r)
		take_end(t, r);
	pd_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pd_bytes in = { data, size };
	const uint64_t from = fuzz_cpu_time();
	struct taken once = { 0 }, cut = { 0 }, whole = { 0 };

	feed(in, MANY, &once);
	feed(in, size % 2 ? EACH : SOME, &cut);
	FUZZ_ASSERT(memcmp(&once, &cut, sizeof(once)) == 0,
		    "other cuts, and %llu records, %llu errors instead of %llu, %llu",
		    (unsigned long long)cut.records, (unsigned long long)cut.errors,
		    (unsigned long long)once.records, (unsigned long long)once.errors);
	read_memory(in, &whole);
	if (!once.errors && !whole.errors)
		FUZZ_ASSERT(memcmp(&once, &whole, sizeof(once)) == 0,
			    "%llu records, in memory %llu", (unsigned long long)once.records,
			    (unsigned long long)whole.records);
	fuzz_check_time(from, 4 * (size + whole.bytes));
	return 0;
}
