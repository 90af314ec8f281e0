/* preport_threads.c - reads the samples of a recording with several threads, each a part of it. */
#include "preport/preport_threads.h"

#include <pthread.h>

#include "files/limit_options.h"
#include "process/tool_thread.h"

/* Work is counted in bytes, of which a record without any has some: a part has at least as much as
 * pays for a thread. */
#define WORK_OF_RECORD 640u
#define WORK_OF_PART (16u << 20)

/* A part after the first. */
struct part {
	struct pd_reader *reader;
	struct pp_profile *profile;
	uint64_t count;			/* of its records */
	pthread_t thread;
	bool is_started;
	bool is_good;			/* read to its end, without damage or want of memory */
	uint64_t errors;
};

static void on_error(void *ctx, const struct pd_error *e)
{
	(void)e;
	((struct part *)ctx)->errors++;
}

static struct pd_reader *open_reader(const struct parts *parts, struct part *part)
{
	struct pd_reader_options o = parts->reader;
	struct pd_error e;

	o.on_error = on_error;
	o.on_wait = NULL;
	o.ctx = part;
	return parts->in->fd >= 0 ? pd_reader_open_fd(parts->in->fd, &o, &e) :
				    pd_reader_open_path(parts->in->path, &o, &e);
}

static void *read_part(void *ctx)
{
	struct part *part = ctx;
	struct pp_counts counts = { .size = sizeof(counts) };
	struct pd_error e;
	const int ret = pp_add_records(part->profile, part->reader, part->count, &e);

	pp_count(part->profile, &counts);
	part->is_good = ret == 0 && !part->errors && !counts.small;
	return NULL;
}

/* Begins to read a part at an entry of the index. The first one, to which the others are added, may
 * have all of the memory; `others` share as much. Returns false if that is not possible. */
static bool start_part(const struct parts *parts, struct part *part, size_t entry, size_t others)
{
	struct pp_options o = parts->profile;
	struct pd_error e;

	o.memory_limit = (o.memory_limit ? o.memory_limit : PD_MEMORY_LIMIT) / others;
	o.on_progress = NULL;	/* the first part's stands for all */
	part->reader = open_reader(parts, part);
	if (!part->reader || pd_reader_start(part->reader, parts->index, entry, &e))
		return false;
	part->profile = pp_new(&o, &e);
	part->is_started = part->profile &&
			   tool_thread_start(&part->thread, read_part, part) == 0;
	return part->is_started;
}

/* Returns the work before the i-th entry. Offsets in several files don't add up. */
static uint64_t work_before(const struct pd_index *index, size_t i)
{
	const struct pd_index_entry *e = pd_index_entry(index, i);
	const size_t nr = pd_index_nr_entries(index);
	const bool is_one_file = !pd_index_entry(index, nr - 1)->file;

	return e->number * WORK_OF_RECORD + (is_one_file ? e->offset : 0);
}

/* Returns the entry with which the i-th of n parts begins: all of them have the same work, but for
 * what follows the last entry. */
static size_t entry_of(const struct pd_index *index, size_t i, size_t n)
{
	const size_t nr = pd_index_nr_entries(index);
	const uint64_t before = work_before(index, nr - 1) / n * i;
	size_t low = 0, high = nr - 1;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (work_before(index, middle) < before)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t first_record(const struct parts *parts, size_t i, size_t n)
{
	return i < n ? pd_index_entry(parts->index, entry_of(parts->index, i, n))->number :
		       UINT64_MAX;
}

/* Returns how many parts are being read, the first included. */
static size_t start_parts(const struct parts *parts, struct part *all, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		all[i].count = first_record(parts, i + 1, n) - first_record(parts, i, n);
		if (!start_part(parts, &all[i], entry_of(parts->index, i, n), n - 1))
			return i;
	}
	return n;
}

static void end_part(struct part *part)
{
	pp_free(part->profile);
	pd_reader_free(part->reader);
}

/* Adds the other parts to the first. Returns 1 if one of them failed: nothing was added then. */
static int append_parts(struct pp_profile *p, struct part *all, size_t n, struct pd_error *e)
{
	for (size_t i = 1; i < n; i++)
		if (!all[i].is_good)
			return 1;
	for (size_t i = 1; i < n; i++)
		if (pp_append(p, all[i].profile, e))
			return -1;
	return 0;
}

static size_t count_parts(const struct parts *parts, const struct pp_profile *p,
			  const struct pd_reader *r)
{
	const size_t most = parts->threads < PARTS_MOST ? parts->threads : PARTS_MOST;
	const size_t nr = pd_index_nr_entries(parts->index);
	uint64_t worth;

	if (most < 2 || !nr || !pp_is_divisible(p, r))
		return 1;
	worth = work_before(parts->index, nr - 1) / WORK_OF_PART;
	return worth < 1 ? 1 : worth < most ? (size_t)worth : most;
}

int parts_add(const struct parts *parts, struct pp_profile *p, struct pd_reader *r,
	      struct pd_error *e)
{
	struct part all[PARTS_MOST] = { 0 };
	const size_t n = count_parts(parts, p, r), started = start_parts(parts, all, n);
	int ret = pp_add_records(p, r, first_record(parts, 1, n), e);

	for (size_t i = 1; i < started; i++)
		pthread_join(all[i].thread, NULL);
	if (!ret && n > 1) {
		ret = started < n ? 1 : append_parts(p, all, n, e);
		if (ret > 0)	/* the first reader goes on */
			ret = pp_add(p, r, e);
	}
	for (size_t i = 1; i < n; i++)
		end_part(&all[i]);
	return ret;
}
