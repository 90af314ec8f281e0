/* fuzz_profile.c - any bytes as a perf.data file: its profile stays within its memory and in linear
 * time, and every format can be written. Folded stacks have the weight of the samples, from the
 * root and from the leaf; formats in JSON are JSON; the same profile gives the same bytes twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "pd/profile.h"

enum { SMALL = 1 << 18, LAST_FORMAT = PP_OTLP };

/* How a profile is made, by the last two bytes of the input and its size, and what is written of
 * it: one thing, so that a run is short. */
struct choice {
	uint64_t limit;
	uint32_t groups;
	enum pp_state state;
	enum pp_keep keep;
	enum pp_shape_of { FROM_ROOT, SHORT, FOLDED_RECURSION, CUT } shape;
	enum pp_measure measure;
	enum pp_direction direction;
	unsigned int written;	/* an enum pp_format; LAST_FORMAT + 1: text of each sample */
};

static struct choice choose(const uint8_t *data, size_t size)
{
	const unsigned int n = size ? data[size - 1] : 0, m = size > 1 ? data[size - 2] : 0;

	return (struct choice){
		.limit = size % 5 == 4 ? SMALL : FUZZ_MEMORY,
		.groups = n & 0x1f,
		.state = (enum pp_state)(size % 3),
		.keep = size % 3 == PP_ON_CPU && size % 2 ? PP_KEEP_SAMPLES : PP_KEEP_WHAT_FITS,
		.shape = (enum pp_shape_of)(n >> 5 & 3),
		.measure = n & 0x80 ? PP_BY_SAMPLES : PP_BY_PERIOD,
		.direction = m & 1 ? PP_FROM_LEAF : PP_FROM_ROOT,
		.written = m / 2 % (LAST_FORMAT + 2),
	};
}

static struct pd_reader *open_reader(struct pd_bytes in, enum pd_order_by order)
{
	struct pd_error e;

	return pd_reader_open_memory(in, PD_READER_OPTIONS(.memory_limit = FUZZ_MEMORY,
							   .order = order,
							   .max_expanded = 16 << 20,
							   .max_ratio = 64), &e);
}

/* Returns the bytes of the records, expanded. */
static uint64_t learn(struct pd_history *h, struct pd_bytes in)
{
	struct pd_reader *r = open_reader(in, PD_BY_TIME);
	const struct pd_record *record;
	struct pd_error e;
	uint64_t bytes = 0;

	while (r && pd_reader_next(r, &record, &e) == 1) {
		bytes += pd_record_bytes(record).size;
		pd_history_add_record(h, record, &e);
	}
	pd_history_seal(h, r, &e);
	pd_reader_free(r);
	return bytes;
}

static int take(void *ctx, const void *p, size_t n)
{
	fuzz_append(ctx, p, n);
	return 0;
}

/* Returns whether all was read. */
static bool fill(struct pp_profile *p, struct pd_bytes in, enum pp_keep keep)
{
	struct pd_reader *r = open_reader(in, keep == PP_KEEP_SAMPLES ? PD_AS_WRITTEN : PD_BY_TIME);
	struct pd_error e;
	const bool is_whole = r && pp_add(p, r, &e) == 0;

	pd_reader_free(r);
	return is_whole;
}

static struct pp_profile *make(const struct choice *c, const struct pd_history *h,
			       struct pd_bytes in)
{
	const struct pp_options *o = PP_OPTIONS(.history = h, .memory_limit = c->limit,
						.groups = c->groups, .state = c->state,
						.keep = c->keep);
	const struct pp_shape *shape = PP_SHAPE(
		.idle = PP_IDLE_DROP, .cut = PP_CUT_SHOWN, .direction = c->direction,
		.unnamed = PP_UNNAMED_ADDRESS, .max_depth = c->shape == SHORT ? 3 : 0,
		.recursion = c->shape == FOLDED_RECURSION ? PP_RECURSION_FOLDED : PP_RECURSION_KEPT,
		.cut_after = c->shape == CUT ? "*0*" : NULL);
	struct pp_counts counts = { .size = sizeof(counts) };
	struct pd_error e;
	struct pp_profile *p = pp_new(o, &e);

	FUZZ_ASSERT(p, "no profile");
	fill(p, in, c->keep);
	if (pp_merge(p, shape, &e)) {
		pp_free(p);
		return NULL;
	}
	pp_count(p, &counts);
	FUZZ_ASSERT(counts.memory <= c->limit, "%llu bytes of memory",
		    (unsigned long long)counts.memory);
	return p;
}

static int write_one(struct pp_profile *p, const struct choice *c, enum pp_format format,
		     struct fuzz_bytes *out)
{
	const struct pp_write *o = PP_WRITE(.format = format, .event = pp_main_event(p),
					    .measure = c->measure, .title = "x",
					    .keys = { PP_KEY_COMM, PP_KEY_CPU, PP_KEY_IMAGE },
					    .graph = PP_GRAPH_CALLERS, .rows = 40);

	return pp_write(p, o, (struct pd_output){ take, out });
}

/* Returns the sum of the lines. */
static uint64_t sum_of(const struct fuzz_bytes *folded)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < folded->size;) {
		const uint8_t *end = memchr(folded->data + i, '\n', folded->size - i);
		const uint8_t *space;

		FUZZ_ASSERT(end, "a line without an end");
		space = memrchr(folded->data + i, ' ', (size_t)(end - folded->data) - i);
		FUZZ_ASSERT(space, "a line without a weight");
		sum += strtoull((const char *)space + 1, NULL, 10);
		i = (size_t)(end - folded->data) + 1;
	}
	return sum;
}

static void check_folded(struct pp_profile *p, const struct choice *c)
{
	struct fuzz_bytes out = { NULL, 0, 0 }, again = { NULL, 0, 0 };
	struct pp_event event;

	if (write_one(p, c, PP_FOLDED, &out) == 0 && pp_event_at(p, pp_main_event(p), &event)) {
		const uint64_t sum = sum_of(&out), want = c->measure == PP_BY_PERIOD ?
			event.weight - event.idle_weight : event.samples - event.idle_samples;

		FUZZ_ASSERT(sum == want, "%llu in the stacks, %llu in the samples",
			    (unsigned long long)sum, (unsigned long long)want);
		if (write_one(p, c, PP_FOLDED, &again) == 0)
			FUZZ_ASSERT(out.size == again.size &&
				    (!out.size || memcmp(out.data, again.data, out.size) == 0),
				    "other bytes the second time");
	}
	fuzz_free(&out);
	fuzz_free(&again);
}

static void check_format(struct pp_profile *p, const struct choice *c, enum pp_format format)
{
	struct fuzz_bytes out = { NULL, 0, 0 };
	const bool is_json = format == PP_JSON || format == PP_SPEEDSCOPE || format == PP_CHROME;
	const int ret = write_one(p, c, format, &out);
	const char *fault = is_json && !ret && out.size ?
		fuzz_json_fault((const char *)out.data, out.size) : NULL;

	FUZZ_ASSERT(!fault, "format %d: %s", (int)format, fault);
	fuzz_free(&out);
}

static void write_profile(const struct choice *c, const struct pd_history *h, struct pd_bytes in)
{
	struct pp_profile *p = make(c, h, in);

	if (p && c->written == PP_FOLDED)
		check_folded(p, c);
	else if (p)
		check_format(p, c, (enum pp_format)c->written);
	pp_free(p);
}

static void write_script(const struct choice *c, const struct pd_history *h, struct pd_bytes in)
{
	struct fuzz_bytes out = { NULL, 0, 0 };
	struct pd_reader *r = open_reader(in, PD_BY_TIME);
	struct pd_error e;
	struct pp_profile *p = pp_new(PP_OPTIONS(.history = h, .memory_limit = c->limit), &e);

	FUZZ_ASSERT(p, "no profile");
	if (r)
		pp_script(p, r, PP_SCRIPT(.like = c->groups & 1 ? PP_LIKE_PERF_6_1 :
							      PP_LIKE_PERF_6_12,
					  .layout = c->groups & 2 ? PP_LAYOUT_STACKS :
								    PP_LAYOUT_PERF),
			  (struct pd_output){ take, &out }, &e);
	for (size_t i = 0; i < out.size; i++)
		FUZZ_ASSERT(out.data[i] >= 0x20 || out.data[i] == '\n' || out.data[i] == '\t',
			    "a control character in the text");
	pd_reader_free(r);
	pp_free(p);
	fuzz_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pd_bytes in = { data, size };
	const struct choice c = choose(data, size);
	const uint64_t from = fuzz_cpu_time();
	struct pd_error e;
	struct pd_history *h = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = FUZZ_MEMORY), &e);
	uint64_t bytes;

	FUZZ_ASSERT(h, "no history");
	bytes = learn(h, in);
	if (c.written > LAST_FORMAT)
		write_script(&c, h, in);
	else
		write_profile(&c, h, in);
	fuzz_check_time(from, 5 * (size + bytes));
	pd_history_free(h);
	return 0;
}
