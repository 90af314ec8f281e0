/* order.c - sorts items by time, in bounded memory. */
#include "model/order.h"

#include <string.h>

#include "model/order_entry.h"
#include "model/order_runs.h"

#define MEMORY_MIN (1u << 20)
#define CHUNK_MAX (1u << 20)
#define ENTRIES_MIN 1024
#define RUN_BUFFERS 64	/* the most runs that are read at once */
#define BUFFER_MAX (1u << 20)

struct chunk {
	struct chunk *next, *prev;
	size_t size, used;	/* bytes of data */
	size_t live;		/* number of items in use */
	uint64_t data[];
};

struct item {
	struct chunk *chunk;
	uint32_t meta_size, record_size;
	/* followed by the payload, as in order_runs.h */
};

struct pd_order {
	struct pd_budget *budget;
	uint64_t memory, used;		/* by chunks and entries */
	size_t chunk_size;
	struct chunk *chunks, *current, *spare;	/* `current` is one of `chunks` */

	struct pd_order_entry *entries, *scratch;
	size_t head, sorted, count, capacity;	/* [head, sorted) is sorted, [sorted, count) is
						 * not */
	uint64_t batch_first;			/* smallest time in [sorted, count) */
	struct pd_order_entry *late;		/* heap of items that arrived after their time was
						 * released */
	size_t late_count, late_capacity;
	struct pd_runs *runs;

	uint64_t seq;
	uint64_t free_to;			/* items up to this time are ready */
	uint64_t max;				/* largest time seen */
	uint64_t next_free;			/* `max` at the last round */
	struct item *taken;			/* freed by the next call */
};

static void free_chunks(struct pd_order *o, struct chunk *c)
{
	while (c) {
		struct chunk *next = c->next;

		o->used -= sizeof(*c) + c->size;
		pd_budget_free(o->budget, c, sizeof(*c) + c->size);
		c = next;
	}
}

static void free_entries(struct pd_order *o)
{
	size_t size = o->capacity * sizeof(*o->entries);

	pd_budget_free(o->budget, o->entries, size);
	pd_budget_free(o->budget, o->scratch, size);
	pd_budget_free(o->budget, o->late, o->late_capacity * sizeof(*o->late));
	o->used -= 2 * size + o->late_capacity * sizeof(*o->late);
	o->entries = o->scratch = o->late = NULL;
	o->capacity = o->late_capacity = 0;
}

void pd_order_free(struct pd_order *o)
{
	if (!o)
		return;
	free_chunks(o, o->chunks);
	free_chunks(o, o->spare);
	free_entries(o);
	pd_runs_free(o->runs);
	pd_budget_free(o->budget, o, sizeof(*o));
}

struct pd_order *pd_order_new(struct pd_budget *b, uint64_t memory, uint64_t tempfile)
{
	struct pd_order *o = pd_budget_alloc(b, sizeof(*o));
	uint64_t chunk, buffer;

	if (!o)
		return NULL;
	if (memory > b->limit - b->used)
		memory = b->limit - b->used;
	if (memory < MEMORY_MIN)
		memory = MEMORY_MIN;
	o->budget = b;
	o->memory = memory - memory / 4;	/* the rest is for pd_runs */
	chunk = memory / 32;
	o->chunk_size = chunk < CHUNK_MAX ? pd_pad8((size_t)chunk) : CHUNK_MAX;
	buffer = memory / 4 / RUN_BUFFERS;
	o->runs = pd_runs_new(b, buffer < BUFFER_MAX ? (size_t)buffer : BUFFER_MAX,
			      tempfile ? tempfile : UINT64_MAX);
	if (o->runs)
		return o;
	pd_order_free(o);
	return NULL;
}

/* --- memory --- */

static bool is_affordable(const struct pd_order *o, uint64_t n)
{
	return o->used + n <= o->memory && pd_budget_has_room(o->budget, n);
}

static bool afford(struct pd_order *o, uint64_t n)
{
	if (!is_affordable(o, n)) {
		free_chunks(o, o->spare);
		o->spare = NULL;
	}
	return is_affordable(o, n);
}

static bool grow_entries(struct pd_order *o)
{
	size_t size = o->capacity * sizeof(*o->entries);
	size_t new_size = size ? size * 2 : ENTRIES_MIN * sizeof(*o->entries);
	struct pd_order_entry *scratch, *entries;

	/* the old scratch is freed after the new one is there */
	if (!afford(o, 2 * (new_size - size)) ||
	    !pd_budget_has_room(o->budget, 2 * new_size - size))
		return false;
	scratch = pd_budget_alloc(o->budget, new_size);
	if (!scratch)
		return false;
	entries = pd_budget_grow(o->budget, o->entries, size, new_size);
	if (!entries) {
		pd_budget_free(o->budget, scratch, new_size);
		return false;
	}
	pd_budget_free(o->budget, o->scratch, size);
	o->scratch = scratch;
	o->entries = entries;
	o->capacity = new_size / sizeof(*entries);
	o->used += 2 * (new_size - size);
	return true;
}

static bool entry_room(struct pd_order *o)
{
	if (o->count < o->capacity)
		return true;
	if (o->head <= o->count / 2)
		return grow_entries(o);
	memmove(o->entries, o->entries + o->head, (o->count - o->head) * sizeof(*o->entries));
	o->count -= o->head;
	o->sorted -= o->head;
	o->head = 0;
	return true;
}

static bool late_room(struct pd_order *o)
{
	size_t size = o->late_capacity * sizeof(*o->late);
	size_t new_size = size ? size * 2 : ENTRIES_MIN * sizeof(*o->late);
	struct pd_order_entry *late;

	if (o->late_count < o->late_capacity)
		return true;
	if (!afford(o, new_size - size))
		return false;
	late = pd_budget_grow(o->budget, o->late, size, new_size);
	if (!late)
		return false;
	o->late = late;
	o->late_capacity = new_size / sizeof(*late);
	o->used += new_size - size;
	return true;
}

static void recycle(struct pd_order *o, struct chunk *c)
{
	if (c->prev)
		c->prev->next = c->next;
	else
		o->chunks = c->next;
	if (c->next)
		c->next->prev = c->prev;
	c->next = NULL;
	if (c->size != o->chunk_size) {
		free_chunks(o, c);
		return;
	}
	c->next = o->spare;
	o->spare = c;
}

static struct chunk *new_chunk(struct pd_order *o, size_t size)
{
	struct chunk *c = o->spare;

	if (c && size <= c->size) {
		o->spare = c->next;
	} else {
		if (size < o->chunk_size)
			size = o->chunk_size;
		if (!afford(o, sizeof(*c) + size))
			return NULL;
		c = pd_budget_alloc(o->budget, sizeof(*c) + size);
		if (!c)
			return NULL;
		o->used += sizeof(*c) + size;
		c->size = size;
	}
	c->used = c->live = 0;
	c->prev = NULL;
	c->next = o->chunks;
	if (c->next)
		c->next->prev = c;
	o->chunks = c;
	return c;
}

static bool item_room(struct pd_order *o, size_t size)
{
	struct chunk *c = o->current;

	if (c && size <= c->size - c->used)
		return true;
	o->current = NULL;
	if (c && !c->live)
		recycle(o, c);
	o->current = new_chunk(o, size);
	return o->current;
}

static void release_taken(struct pd_order *o)
{
	struct chunk *c = o->taken ? o->taken->chunk : NULL;

	o->taken = NULL;
	if (!c || --c->live)
		return;
	if (c == o->current)
		c->used = 0;
	else
		recycle(o, c);
}

/* --- out of memory: all queued items are written to the file as one run --- */

static void sort_batch(struct pd_order *o)
{
	struct pd_order_entry *v, *to;

	if (o->sorted == o->count)
		return;
	v = o->entries + o->head;
	to = o->scratch + o->head;
	if (pd_entry_sort(v, to, o->count - o->head) == to) {
		o->scratch = o->entries;
		o->entries = to - o->head;
	}
	o->sorted = o->count;
}

/* In place: a sorted array is a heap, too. */
static void sort_late(struct pd_order *o)
{
	struct pd_order_entry *v = o->late, swap;

	for (size_t n = o->late_count; n > 1; n--) {
		swap = v[0];
		pd_entry_pop(v, n);
		v[n - 1] = swap;
	}
	for (size_t i = 0, j = o->late_count; i + 1 < j; i++) {
		swap = v[i];
		v[i] = v[--j];
		v[j] = swap;
	}
}

static int write_entry(struct pd_order *o, const struct pd_order_entry *at, struct pd_error *e)
{
	const struct item *item = at->at;
	struct pd_run_item head = { at->time, at->seq, item->meta_size, item->record_size };

	return pd_runs_write(o->runs, &head, item + 1, e);
}

static int write_run(struct pd_order *o, struct pd_error *e)
{
	size_t i = o->head, j = 0;

	if (pd_runs_begin(o->runs, e))
		return -1;
	while (i < o->count || j < o->late_count) {
		bool late = i == o->count || (j < o->late_count &&
					      pd_entry_before(&o->late[j], &o->entries[i]));

		if (write_entry(o, late ? &o->late[j++] : &o->entries[i++], e))
			goto failed;
	}
	if (!pd_runs_finish(o->runs, e))
		return 0;
failed:
	pd_runs_abandon(o->runs);
	return -1;
}

static int spill(struct pd_order *o, struct pd_error *e)
{
	sort_batch(o);
	sort_late(o);
	if (write_run(o, e))
		return -1;
	o->head = o->sorted = o->count = o->late_count = 0;
	o->current = NULL;
	while (o->chunks)
		recycle(o, o->chunks);
	return 0;
}

/* --- push and pop --- */

static bool has_room(struct pd_order *o, size_t size, uint64_t time)
{
	return (time <= o->free_to ? late_room(o) : entry_room(o)) && item_room(o, size);
}

static int make_room(struct pd_order *o, size_t size, uint64_t time, struct pd_error *e)
{
	if (has_room(o, size, time))
		return 0;
	if ((o->head < o->count || o->late_count) && spill(o, e))
		return -1;
	if (has_room(o, size, time))
		return 0;
	o->head = o->sorted = o->count = 0;
	free_entries(o);
	if (has_room(o, size, time))
		return 0;
	*e = (struct pd_error){
		.code = PD_E_LIMIT, .severity = PD_FATAL, .want = size, .have = o->memory,
	};
	return -1;
}

static struct item *store_item(struct pd_order *o, size_t size, struct pd_bytes meta,
			       struct pd_bytes record)
{
	struct chunk *c = o->current;
	struct item *item = (void *)((uint8_t *)c->data + c->used);
	uint8_t *payload = (void *)(item + 1);

	c->used += size;
	c->live++;
	*item = (struct item){ c, (uint32_t)meta.size, (uint32_t)record.size };
	if (meta.size)
		memcpy(payload, meta.data, meta.size);
	if (record.size)
		memcpy(payload + pd_pad8(meta.size), record.data, record.size);
	return item;
}

static void add_entry(struct pd_order *o, struct pd_order_entry new_entry)
{
	if (o->sorted < o->count) {
		if (new_entry.time < o->batch_first)
			o->batch_first = new_entry.time;
	} else if (o->head < o->count && new_entry.time < o->entries[o->count - 1].time) {
		o->batch_first = new_entry.time;
	} else {
		o->sorted++;	/* already in order */
	}
	o->entries[o->count++] = new_entry;
}

int pd_order_push(struct pd_order *o, uint64_t time, struct pd_bytes meta, struct pd_bytes record,
		  struct pd_error *e)
{
	struct pd_order_entry new_entry = { .time = time, .seq = o->seq };
	size_t size;

	release_taken(o);
	if (meta.size > o->memory || record.size > o->memory ||
	    meta.size > UINT32_MAX || record.size > UINT32_MAX) {
		*e = (struct pd_error){
			.code = PD_E_LIMIT, .severity = PD_FATAL, .want = record.size,
			.have = o->memory,
		};
		return -1;
	}
	size = sizeof(struct item) + pd_pad8(meta.size) + pd_pad8(record.size);
	if (make_room(o, size, time, e))
		return -1;
	new_entry.at = store_item(o, size, meta, record);
	o->seq++;
	if (time <= o->free_to)
		pd_entry_push(o->late, o->late_count++, new_entry);
	else
		add_entry(o, new_entry);
	if (time > o->max)
		o->max = time;
	return 0;
}

void pd_order_round(struct pd_order *o)
{
	if (o->next_free > o->free_to)
		o->free_to = o->next_free;
	o->next_free = o->max;
}

void pd_order_end(struct pd_order *o)
{
	o->free_to = UINT64_MAX;
}

static void set_out(struct pd_order_item *out, uint64_t time, const void *payload,
		    size_t meta_size, size_t record_size)
{
	const uint8_t *p = payload;

	out->time = time;
	out->meta = (struct pd_bytes){ p, meta_size };
	out->record = (struct pd_bytes){ p + pd_pad8(meta_size), record_size };
}

static int take_from_runs(struct pd_order *o, struct pd_order_item *out, struct pd_error *e)
{
	const struct pd_run_item *head;
	int status = pd_runs_take(o->runs, &head, e);

	if (status && o->spare) {	/* the buffers of runs may fit without the spare chunk */
		free_chunks(o, o->spare);
		o->spare = NULL;
		status = pd_runs_take(o->runs, &head, e);
	}
	if (status)
		return -1;
	set_out(out, head->time, head + 1, head->meta_size, head->record_size);
	return 1;
}

static int take_from_memory(struct pd_order *o, const struct pd_order_entry *best,
			    struct pd_order_item *out)
{
	struct item *item = best->at;

	set_out(out, best->time, item + 1, item->meta_size, item->record_size);
	o->taken = item;
	if (o->late_count && best == o->late)
		pd_entry_pop(o->late, o->late_count--);
	else if (++o->head == o->count)
		o->head = o->sorted = o->count = 0;
	return 1;
}

int pd_order_pop(struct pd_order *o, struct pd_order_item *out, struct pd_error *e)
{
	const struct pd_order_entry *best = NULL;
	struct pd_order_entry spilled;
	int status;

	release_taken(o);
	if (o->sorted < o->count && o->batch_first <= o->free_to)
		sort_batch(o);
	status = pd_runs_first(o->runs, &spilled, e);
	if (status < 0)
		return -1;
	if (o->head < o->sorted)
		best = &o->entries[o->head];
	if (o->late_count && (!best || pd_entry_before(&o->late[0], best)))
		best = &o->late[0];
	if (status && (!best || pd_entry_before(&spilled, best)))
		best = &spilled;
	if (!best || best->time > o->free_to)
		return 0;
	return best == &spilled ? take_from_runs(o, out, e) : take_from_memory(o, best, out);
}
