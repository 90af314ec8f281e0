/* fuzz_history.c - any bytes as a perf.data file: a history of it stays within its memory and in
 * linear time, and answers the same whether it learned from batches in the order of the file, or
 * record by record in the order of time. A live one stays within its memory, too, and answers the
 * same unless it counts records that came too late. The last byte chooses which of the two is
 * compared, so that a run is short.
 */
#include <string.h>

#include "harness.h"
#include "pd/history.h"

enum { ADDRESSES = 256, SMALL = 1 << 16 };

struct learned {
	struct pd_history *history;
	bool is_complete, has_guests;
	uint64_t bytes;			/* of the records */
};

static struct pd_reader *open_reader(struct pd_bytes in, enum pd_order_by order)
{
	struct pd_error e;

	return pd_reader_open_memory(in, PD_READER_OPTIONS(.memory_limit = FUZZ_MEMORY,
							   .order = order,
							   .max_expanded = 16 << 20,
							   .max_ratio = 64), &e);
}

/* One by one. 0, or -1 when a limit is reached. */
static int learn_each(struct learned *l, struct pd_reader *r, struct pd_error *e)
{
	const struct pd_record *record;
	int ret;

	while ((ret = pd_reader_next(r, &record, e)) == 1) {
		l->bytes += pd_record_bytes(record).size;
		/* holds for what is learned after it, which is other records in another order */
		l->has_guests |= pd_record_type(record) == PD_RECORD_ID_INDEX;
		if (pd_history_add_record(l->history, record, e))
			return -1;
	}
	return ret;
}

static void learn(struct learned *l, struct pd_bytes in, enum pd_order_by order, uint64_t limit)
{
	struct pd_reader *r = open_reader(in, order);
	struct pd_history_counts counts = { .size = sizeof(counts) };
	struct pd_error e;

	l->history = pd_history_new(PD_HISTORY_OPTIONS(.memory_limit = limit), &e);
	FUZZ_ASSERT(l->history, "no history");
	l->is_complete = r && !(order == PD_AS_WRITTEN ? pd_history_learn(l->history, r, &e) :
							 learn_each(l, r, &e));
	l->is_complete &= !pd_history_seal(l->history, r, &e) && !l->has_guests;
	pd_reader_free(r);
	pd_history_count(l->history, &counts);
	FUZZ_ASSERT(counts.memory <= limit, "%llu bytes of memory",
		    (unsigned long long)counts.memory);
}

static bool is_same_text(const char *a, const char *b)
{
	return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static void compare_locations(const struct learned *a, const struct learned *b,
			      const struct pd_location *x, const struct pd_location *y)
{
	const struct pd_image *image = pd_history_image(a->history, x->image),
			      *other = pd_history_image(b->history, y->image);

	FUZZ_ASSERT((x->image == PD_NO_IMAGE) == !image && (x->why != PD_WHY_FOUND) == !image,
		    "found, and no image");
	FUZZ_ASSERT(!image || x->file_offset == x->addr - x->start + x->pgoff, "another offset");
	if (!a->is_complete || !b->is_complete)
		return;
	FUZZ_ASSERT(x->addr == y->addr && x->why == y->why && x->flags == y->flags &&
		    x->cpumode == y->cpumode, "another answer");
	FUZZ_ASSERT(!image == !other && x->file_offset == y->file_offset, "another map");
	FUZZ_ASSERT(!image || is_same_text(image->path, other->path), "another image");
}

static void compare_tasks(const struct learned *a, const struct learned *b,
			  const struct pd_record *r)
{
	struct pd_task task, other;
	struct pd_moment at;
	uint64_t pid = 0, tid = 0;
	bool known[2];

	pd_record_moment(r, &at);
	pd_record_get_number(r, "pid", &pid);
	pd_record_get_number(r, "tid", &tid);
	known[0] = pd_history_task(a->history, (int32_t)pid, (int32_t)tid, 0, &at, &task);
	known[1] = pd_history_task(b->history, (int32_t)pid, (int32_t)tid, 0, &at, &other);
	if (a->is_complete && b->is_complete)
		FUZZ_ASSERT(known[0] == known[1] && is_same_text(task.comm, other.comm) &&
			    task.start == other.start, "another task");
}

static void compare_sample(const struct learned *a, const struct learned *b,
			   const struct pd_record *r)
{
	static struct pd_location x[ADDRESSES], y[ADDRESSES];
	size_t n = pd_history_frames(a->history, r, x, ADDRESSES);

	FUZZ_ASSERT(n == pd_history_frames(b->history, r, y, ADDRESSES), "more addresses");
	for (size_t i = 0; i < n && i < ADDRESSES; i++)
		compare_locations(a, b, &x[i], &y[i]);
	n = pd_history_branches(a->history, r, x, ADDRESSES);
	FUZZ_ASSERT(n == pd_history_branches(b->history, r, y, ADDRESSES) && n % 2 == 0,
		    "more branches");
	for (size_t i = 0; i < n && i < ADDRESSES; i++)
		compare_locations(a, b, &x[i], &y[i]);
	compare_tasks(a, b, r);
}

static void list_all(const struct pd_history *h)
{
	struct pd_mapping m;
	struct pd_task t;
	size_t n = 0;

	for (size_t i = 0; pd_history_task_at(h, i, &t); i++)
		n += t.comm ? strlen(t.comm) : 0;
	for (size_t i = 0; pd_history_mapping(h, i, &m); i++)
		FUZZ_ASSERT(m.image == PD_NO_IMAGE || pd_history_image(h, m.image),
			    "a map of no image");
	for (size_t i = 0; i < pd_history_nr_images(h); i++)
		n += strlen(pd_history_image(h, i)->path);
	FUZZ_ASSERT(n < UINT32_MAX, "endless");
}

/* Returns whether a live history has the same answers for a sample as a whole one. Before the
 * first record of a process it knows neither the process nor its maps. */
static bool is_same_sample(const struct pd_history *live, const struct pd_history *whole,
			   const struct pd_record *r)
{
	static struct pd_location x[ADDRESSES], y[ADDRESSES];
	const size_t n = pd_history_frames(live, r, x, ADDRESSES);
	struct pd_task task = { .comm = NULL }, other = { .comm = NULL };
	bool is_same = n == pd_history_frames(whole, r, y, ADDRESSES);

	for (size_t i = 0; is_same && i < n && i < ADDRESSES; i++) {
		const struct pd_image *a = pd_history_image(live, x[i].image),
				      *b = pd_history_image(whole, y[i].image);

		is_same = !a == !b && x[i].file_offset == y[i].file_offset &&
			  x[i].flags == y[i].flags && (!a || strcmp(a->path, b->path) == 0);
	}
	pd_history_record_task(live, r, &task);
	pd_history_record_task(whole, r, &other);
	return is_same && is_same_text(task.comm, other.comm) && task.execs <= other.execs;
}

/* Asks a live history about each sample as it comes. Its answers are those of the
 * whole one, unless it counts records that came too late. */
static void follow(struct pd_bytes in, uint64_t limit, const struct learned *whole)
{
	static struct pd_location x[ADDRESSES];
	bool is_same = true;
	const struct pd_history_options *o =
		PD_HISTORY_OPTIONS(.memory_limit = limit, .mode = PD_HISTORY_LIVE);
	struct pd_history_counts counts = { .size = sizeof(counts) };
	const struct pd_record *record;
	struct pd_error e;
	struct pd_history *h = pd_history_new(o, &e);
	struct pd_reader *r = open_reader(in, PD_BY_TIME);
	struct learned live = { .history = h };

	FUZZ_ASSERT(h, "no history");
	while (r && pd_reader_next(r, &record, &e) == 1) {
		size_t n;

		pd_history_add_record(h, record, &e);
		n = pd_history_frames(h, record, x, ADDRESSES);
		for (size_t i = 0; i < n && i < ADDRESSES; i++)
			compare_locations(&live, &live, &x[i], &x[i]);
		compare_tasks(&live, &live, record);
		if (pd_record_type(record) == PD_RECORD_SAMPLE)
			is_same &= is_same_sample(h, whole->history, record);
	}
	pd_history_seal(h, r, &e);
	list_all(h);
	pd_history_count(h, &counts);
	FUZZ_ASSERT(counts.memory <= limit, "%llu bytes of memory, live",
		    (unsigned long long)counts.memory);
	FUZZ_ASSERT(is_same || !whole->is_complete || counts.late || counts.untimed ||
		    counts.forgotten || counts.left_out, "another answer, live");
	pd_reader_free(r);
	pd_history_free(h);
}

/* Compares two that learned in different ways. */
static void compare(struct pd_bytes in, uint64_t limit, const struct learned *b)
{
	struct learned a = { NULL };
	const struct pd_record *record;
	struct pd_reader *r;
	struct pd_error e;

	learn(&a, in, PD_AS_WRITTEN, limit);
	list_all(a.history);
	r = open_reader(in, PD_AS_WRITTEN);
	while (r && pd_reader_next(r, &record, &e) == 1)
		compare_sample(&a, b, record);
	pd_reader_free(r);
	pd_history_free(a.history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pd_bytes in = { data, size };
	const uint64_t from = fuzz_cpu_time(), limit = size % 5 == 4 ? SMALL : FUZZ_MEMORY;
	struct learned whole = { NULL };

	learn(&whole, in, PD_BY_TIME, FUZZ_MEMORY);
	if (size && data[size - 1] % 2)
		follow(in, limit, &whole);
	else
		compare(in, limit, &whole);
	fuzz_check_time(from, 5 * (size + whole.bytes));
	pd_history_free(whole.history);
	return 0;
}
