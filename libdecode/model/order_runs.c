/* order_runs.c - sorted runs of items in a temporary file. */
#include "model/order_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/tempfile.h"

#define RUNS_MAX 64
#define WRITE_SIZE (64u << 10)
#define BUFFER_MIN 4096

struct run {
	uint64_t begin;		/* offset in the file */
	uint64_t item;		/* offset of the current item */
	uint64_t end;		/* 0: unused slot */
	uint64_t time, seq;	/* of the current item */
	unsigned int level;	/* how often its items were merged */
	uint8_t *buf;		/* the file from read_at on; NULL: nothing read yet */
	size_t capacity, filled;
	uint64_t read_at;
};

struct heap {
	struct pd_order_entry entries[RUNS_MAX];	/* `at` points to the run */
	size_t count;
	struct run *taken;	/* its item was returned: the next call moves past it */
};

struct pd_runs {
	struct pd_budget *budget;
	struct pd_tempfile tempfile;
	size_t buffer;
	struct run runs[RUNS_MAX];
	struct heap heap;
	struct run writing;	/* `end` is 0 until the first item */
	uint8_t *out;		/* WRITE_SIZE bytes */
	size_t out_filled;
};

struct pd_runs *pd_runs_new(struct pd_budget *b, size_t buffer, uint64_t tempfile_limit)
{
	struct pd_runs *r = pd_budget_alloc(b, sizeof(*r));

	if (!r)
		return NULL;
	r->budget = b;
	r->buffer = pd_pad8(buffer);
	r->tempfile = (struct pd_tempfile){ .fd = -1, .limit = tempfile_limit };
	r->out = pd_budget_alloc(b, WRITE_SIZE);
	if (!r->out) {
		pd_budget_free(b, r, sizeof(*r));
		return NULL;
	}
	return r;
}

static void drop_buffer(struct pd_runs *r, struct run *run)
{
	pd_budget_free(r->budget, run->buf, run->capacity);
	run->buf = NULL;
	run->capacity = run->filled = 0;
}

void pd_runs_free(struct pd_runs *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < RUNS_MAX; i++)
		drop_buffer(r, &r->runs[i]);
	pd_tempfile_close(&r->tempfile);
	pd_budget_free(r->budget, r->out, WRITE_SIZE);
	pd_budget_free(r->budget, r, sizeof(*r));
}

/* --- writing --- */

static int flush(struct pd_runs *r, struct pd_error *e)
{
	if (pd_tempfile_append(&r->tempfile, r->out, r->out_filled, e))
		return -1;
	r->out_filled = 0;
	return 0;
}

static int write_bytes(struct pd_runs *r, const void *p, size_t n, struct pd_error *e)
{
	for (const uint8_t *from = p; n;) {
		size_t part = WRITE_SIZE - r->out_filled;

		if (part > n)
			part = n;
		memcpy(r->out + r->out_filled, from, part);
		r->out_filled += part;
		from += part;
		n -= part;
		if (r->out_filled == WRITE_SIZE && flush(r, e))
			return -1;
	}
	return 0;
}

int pd_runs_write(struct pd_runs *r, const struct pd_run_item *head, const void *payload,
		  struct pd_error *e)
{
	struct run *run = &r->writing;

	if (!run->end) {
		run->time = head->time;
		run->seq = head->seq;
	}
	run->end = 1;
	if (write_bytes(r, head, sizeof(*head), e))
		return -1;
	return write_bytes(r, payload, pd_run_payload(head), e);
}

static struct run *free_slot(struct pd_runs *r)
{
	for (size_t i = 0; i < RUNS_MAX; i++)
		if (!r->runs[i].end)
			return &r->runs[i];
	return NULL;
}

static void heap_add(struct heap *h, struct run *run)
{
	pd_entry_push(h->entries, h->count,
		      (struct pd_order_entry){ run->time, run->seq, run });
	h->count++;
}

int pd_runs_finish(struct pd_runs *r, struct pd_error *e)
{
	struct run *slot = free_slot(r);	/* pd_runs_begin() has ensured that there is one */

	if (flush(r, e))
		return -1;
	if (!r->writing.end)
		return 0;
	r->writing.end = r->tempfile.size;
	*slot = r->writing;
	heap_add(&r->heap, slot);
	return 0;
}

void pd_runs_abandon(struct pd_runs *r)
{
	r->out_filled = 0;
	pd_tempfile_truncate(&r->tempfile, r->writing.begin);
}

/* --- reading --- */

static int grow_buffer(struct pd_runs *r, struct run *run, size_t n, struct pd_error *e)
{
	size_t size = n > r->buffer ? n : r->buffer;
	uint8_t *buf;

	if (n < size && !pd_budget_has_room(r->budget, size - run->capacity))	/* slower */
		size = n > BUFFER_MIN ? n : BUFFER_MIN;
	buf = pd_budget_grow(r->budget, run->buf, run->capacity, size);
	if (!buf) {
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_FATAL, .want = size };
		return -1;
	}
	run->buf = buf;
	run->capacity = size;
	return 0;
}

/* Reads n bytes of the current item into the buffer. */
static int load_bytes(struct pd_runs *r, struct run *run, size_t n, struct pd_error *e)
{
	size_t have = run->buf ? run->filled - (size_t)(run->item - run->read_at) : 0;
	uint64_t left = run->end - run->item;
	size_t size;

	if (have >= n)
		return 0;
	if (run->capacity < n && grow_buffer(r, run, n, e))
		return -1;
	if (have)
		memmove(run->buf, run->buf + (run->item - run->read_at), have);
	run->read_at = run->item;
	run->filled = have;
	size = run->capacity < left ? run->capacity : (size_t)left;
	if (pd_tempfile_read(&r->tempfile, run->item + have, run->buf + have, size - have, e))
		return -1;
	run->filled = size;
	return 0;
}

static struct pd_run_item *item_of(const struct run *run)
{
	return (void *)(run->buf + (run->item - run->read_at));
}

static int load_item(struct pd_runs *r, struct run *run, struct pd_error *e)
{
	if (load_bytes(r, run, sizeof(struct pd_run_item), e))
		return -1;
	return load_bytes(r, run, sizeof(struct pd_run_item) + pd_run_payload(item_of(run)), e);
}

/* Moves past the item returned last, which was that of the run on top of the heap. */
static int advance_taken(struct pd_runs *r, struct heap *h, struct pd_error *e)
{
	struct run *run = h->taken;
	const struct pd_run_item *head;

	if (!run)
		return 0;
	head = item_of(run);
	run->item += sizeof(*head) + pd_run_payload(head);
	h->taken = NULL;
	if (run->item == run->end) {
		pd_entry_pop(h->entries, h->count--);
		drop_buffer(r, run);
		if (h == &r->heap)	/* a merge may still fail, so its input is kept */
			pd_tempfile_discard(&r->tempfile, run->begin, run->end - run->begin);
		run->end = 0;
		return 0;
	}
	if (load_bytes(r, run, sizeof(*head), e))
		return -1;
	head = item_of(run);
	run->time = head->time;
	run->seq = head->seq;
	h->entries[0] = (struct pd_order_entry){ run->time, run->seq, run };
	pd_entry_sink(h->entries, h->count);
	return 0;
}

static int get_first(struct pd_runs *r, struct heap *h, struct pd_order_entry *key,
		     struct pd_error *e)
{
	if (advance_taken(r, h, e))
		return -1;
	if (!h->count)
		return 0;
	*key = h->entries[0];
	return 1;
}

static int take_item(struct pd_runs *r, struct heap *h, const struct pd_run_item **head,
		struct pd_error *e)
{
	struct run *run;

	if (advance_taken(r, h, e))
		return -1;
	run = h->entries[0].at;
	if (load_item(r, run, e))
		return -1;
	*head = item_of(run);
	h->taken = run;
	return 0;
}

int pd_runs_first(struct pd_runs *r, struct pd_order_entry *key, struct pd_error *e)
{
	return get_first(r, &r->heap, key, e);
}

int pd_runs_take(struct pd_runs *r, const struct pd_run_item **head, struct pd_error *e)
{
	return take_item(r, &r->heap, head, e);
}

/* --- too many runs --- */

/* Returns the lowest level up to which there are at least two runs: merging those costs least. */
static unsigned int merge_level(const struct pd_runs *r)
{
	unsigned int level = 0, count;

	for (;; level++) {
		count = 0;
		for (size_t i = 0; i < RUNS_MAX; i++)
			count += r->runs[i].end && r->runs[i].level <= level;
		if (count > 1)
			return level;
	}
}

static void start_run(struct pd_runs *r, unsigned int level)
{
	if (!r->heap.count)
		pd_tempfile_truncate(&r->tempfile, 0);
	r->out_filled = 0;
	r->writing = (struct run){
		.begin = r->tempfile.size, .item = r->tempfile.size, .level = level,
	};
}

static int write_merged(struct pd_runs *r, struct heap *h, struct pd_error *e)
{
	const struct pd_run_item *head;
	struct pd_order_entry key;
	int status;

	while ((status = get_first(r, h, &key, e)) > 0)
		if (take_item(r, h, &head, e) || pd_runs_write(r, head, head + 1, e))
			return -1;
	return status ? -1 : flush(r, e);
}

static int merge_runs(struct pd_runs *r, struct pd_error *e)
{
	unsigned int level = merge_level(r);
	struct heap part = { .count = 0 };
	struct run saved[RUNS_MAX];
	int status;

	start_run(r, level + 1);
	for (size_t i = 0; i < RUNS_MAX; i++) {
		drop_buffer(r, &r->runs[i]);
		saved[i] = r->runs[i];
		if (saved[i].end && saved[i].level <= level)
			heap_add(&part, &r->runs[i]);
	}
	status = write_merged(r, &part, e);
	if (status) {
		pd_runs_abandon(r);
		for (size_t i = 0; i < RUNS_MAX; i++) {
			drop_buffer(r, &r->runs[i]);
			r->runs[i] = saved[i];
		}
		return -1;
	}
	r->heap.count = 0;
	for (size_t i = 0; i < RUNS_MAX; i++) {
		if (r->runs[i].end)
			heap_add(&r->heap, &r->runs[i]);
		else if (saved[i].end)
			pd_tempfile_discard(&r->tempfile, saved[i].begin,
					    saved[i].end - saved[i].begin);
	}
	return pd_runs_finish(r, e);
}

int pd_runs_begin(struct pd_runs *r, struct pd_error *e)
{
	if (r->tempfile.fd < 0 && pd_tempfile_open(&r->tempfile, r->tempfile.limit, e))
		return -1;
	if (advance_taken(r, &r->heap, e))
		return -1;
	if (!free_slot(r) && merge_runs(r, e))
		return -1;
	start_run(r, 0);
	return 0;
}
