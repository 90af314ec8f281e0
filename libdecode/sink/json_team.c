/* json_team.c - writes records with several threads: see json_team.h. */
#include "sink/json_team.h"

#include <pthread.h>
#include <stdlib.h>

#define BLOCK_BYTES (128 * 1024)	/* of records, after which a block is full */
#define BLOCK_RECORDS 2048
#define TYPE_HEADER_FEATURE 80

/* A record in a block: what it takes to make a struct pd_record of the copy. */
struct item {
	uint64_t offset, inner_offset;
	const struct pd_record_desc *desc;
	const struct pd_attr *attr;
	const struct pd_plan *plan, *trailer;
	const char *file;
	uint32_t type, at, size, trailer_size, nr_ops, end;
	uint16_t misc, header_size;
	uint8_t state, variant, code;
};

/* A sample whose raw data were too short: said behind its block. */
struct missing {
	uint64_t offset, want, have;
	const char *file;
};

enum block_state { FREE, FILLED, TAKEN, DONE };

struct block {
	enum block_state state;
	bool first;			/* holds the document's first record */
	bool failed;			/* out of memory: its output is not whole */
	size_t nr_items, nr_missing, missing_capacity;
	size_t used, capacity;		/* of bytes */
	size_t out_size, out_capacity;
	uint8_t *bytes;
	char *out;
	struct missing *missing;
	struct item items[BLOCK_RECORDS];
};

/* A thread's own sink, without a file around it. */
struct worker {
	struct pd_json_team *team;
	struct pd_json j;
	char *buffer;
	pthread_t thread;
	bool started;
};

struct pd_json_team {
	struct pd_json *main;
	pthread_mutex_t lock;
	pthread_cond_t filled, done;
	struct block **blocks;
	struct worker *workers;		/* the first is the caller's thread */
	size_t nr_blocks, nr_workers;
	size_t filling, oldest;		/* indices in the ring */
	bool quit, any;
};

bool pd_json_team_takes(const struct pd_record *r)
{
	return !r->frame.payload && !r->frame.payload_lost && !r->payload.data && r->frame.type != TYPE_HEADER_FEATURE;
}

static int append_out(void *ctx, const void *p, size_t n)
{
	struct block *b = ctx;

	if (n > b->out_capacity - b->out_size) {
		size_t capacity = 2 * (b->out_size + n);
		char *out = realloc(b->out, capacity);

		if (!out) {
			b->failed = true;
			return -1;
		}
		b->out = out;
		b->out_capacity = capacity;
	}
	memcpy(b->out + b->out_size, p, n);
	b->out_size += n;
	return 0;
}

static void restore(const struct worker *w, const struct block *b, const struct item *i, struct pd_record *r)
{
	const uint8_t *bytes = b->bytes + i->at;
	const size_t head = i->state == PD_FRAME_SKIPPED ? 0 : PD_RECORD_HEADER_SIZE;

	r->frame = (struct pd_frame){
		.type = i->type, .misc = i->misc, .size = i->header_size, .bytes = { bytes, i->size },
		.offset = i->offset, .inner_offset = i->inner_offset, .desc = i->desc, .state = i->state };
	r->session = w->j.session;
	r->attr = i->attr;
	r->plan = i->plan;
	r->trailer = i->trailer;
	r->body = (struct pd_bytes){ bytes + head, i->size - head - i->trailer_size };
	r->trailer_bytes = (struct pd_bytes){ bytes + i->size - i->trailer_size, i->trailer_size };
	r->extent = (struct pd_extent_of){
		.nr_ops = i->nr_ops, .variant = i->variant, .end = i->end, .code = (enum pd_code)i->code };
	r->file = i->file;
	r->payload = (struct pd_bytes){ NULL, 0 };
}

static void note_missing(struct block *b, const struct pd_record *r, size_t have)
{
	if (b->nr_missing == b->missing_capacity) {
		size_t capacity = b->missing_capacity ? 2 * b->missing_capacity : 16;
		struct missing *m = realloc(b->missing, capacity * sizeof(*m));

		if (!m) {
			b->failed = true;
			return;
		}
		b->missing = m;
		b->missing_capacity = capacity;
	}
	b->missing[b->nr_missing++] = (struct missing){
		r->frame.offset, r->attr->tracepoint->min_size, have, r->file };
}

/* Turns a block into JSON. */
static void run(struct worker *w, struct block *b)
{
	struct pd_json *j = &w->j;
	struct pd_record r;

	b->out_size = 0;
	b->nr_missing = 0;
	b->failed = false;
	pd_jsonw_init(&j->w, w->buffer, (struct pd_output){ append_out, b });
	j->chains[0].text = j->chains[1].text = NULL;	/* the buffer begins anew */
	if (b->first)
		j->w.at[-1] = '[';
	for (size_t i = 0; i < b->nr_items; i++) {
		restore(w, b, &b->items[i], &r);
		pd_json_write_record(j, &r);
		if (j->fields_missing) {
			note_missing(b, &r, j->raw_data.size);
			if (j->options.shape == PD_JSON_LINES)
				pd_json_write_missing(j, &r);
		}
	}
	pd_jsonw_flush(&j->w);
}

static struct block *take_filled(struct pd_json_team *t)
{
	for (size_t i = 0; i < t->nr_blocks; i++) {
		struct block *b = t->blocks[(t->oldest + i) % t->nr_blocks];

		if (b->state == FILLED) {
			b->state = TAKEN;
			return b;
		}
	}
	return NULL;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pd_json_team *t = w->team;

	pthread_mutex_lock(&t->lock);
	while (!t->quit) {
		struct block *b = take_filled(t);

		if (!b) {
			pthread_cond_wait(&t->filled, &t->lock);
			continue;
		}
		pthread_mutex_unlock(&t->lock);
		run(w, b);
		pthread_mutex_lock(&t->lock);
		b->state = DONE;
		pthread_cond_signal(&t->done);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* Hands the oldest block, which is done, to the output, and says what was wrong in it. */
static int put(struct pd_json_team *t, struct block *b)
{
	struct pd_json *j = t->main;

	pd_jsonw_flush(&j->w);
	if (b->failed && !j->w.failed)
		j->w.failed = -1;
	if (b->out_size && !j->w.failed)
		j->w.failed = j->w.out.write(j->w.out.ctx, b->out, b->out_size);
	j->w.flushed += b->out_size;
	if (b->out_size)
		j->w.at[-1] = b->out[b->out_size - 1];
	j->error_is_written = j->options.shape == PD_JSON_LINES;
	for (size_t i = 0; i < b->nr_missing; i++)
		pd_json_report_missing(j, b->missing[i].offset, b->missing[i].want, b->missing[i].have, b->missing[i].file);
	j->error_is_written = false;
	b->nr_items = b->used = 0;
	b->first = false;
	b->state = FREE;
	return j->w.failed;
}

/* Writes out what is done, in order. Called and left with the lock held. */
static void put_done(struct pd_json_team *t)
{
	while (t->oldest != t->filling && t->blocks[t->oldest]->state == DONE) {
		struct block *b = t->blocks[t->oldest];

		pthread_mutex_unlock(&t->lock);
		put(t, b);
		pthread_mutex_lock(&t->lock);
		t->oldest = (t->oldest + 1) % t->nr_blocks;
	}
}

/* Works or waits until the oldest block is out of the way. With the lock held. */
static void help(struct pd_json_team *t)
{
	struct block *b = take_filled(t);

	if (b) {
		pthread_mutex_unlock(&t->lock);
		run(&t->workers[0], b);
		pthread_mutex_lock(&t->lock);
		b->state = DONE;
	} else if (t->blocks[t->oldest]->state == TAKEN) {
		pthread_cond_wait(&t->done, &t->lock);
	}
	put_done(t);
}

/* The block being filled goes to the threads, once the next one is free: a ring that is full has just one left. */
static int submit(struct pd_json_team *t)
{
	const size_t next = (t->filling + 1) % t->nr_blocks;

	pthread_mutex_lock(&t->lock);
	put_done(t);
	while (t->oldest == next)
		help(t);
	t->blocks[t->filling]->state = FILLED;
	t->filling = next;
	pthread_cond_signal(&t->filled);
	pthread_mutex_unlock(&t->lock);
	return t->main->w.failed;
}

static int make_room(struct block *b, size_t n)
{
	uint8_t *bytes;

	if (n <= b->capacity - b->used)
		return 0;
	bytes = realloc(b->bytes, b->used + n);
	if (!bytes)
		return -1;
	b->bytes = bytes;
	b->capacity = b->used + n;
	return 0;
}

int pd_json_team_add(struct pd_json_team *t, const struct pd_record *r)
{
	struct block *b = t->blocks[t->filling];
	const struct pd_frame *f = &r->frame;

	if (b->nr_items == BLOCK_RECORDS || (b->used && b->used + f->bytes.size > BLOCK_BYTES)) {
		if (submit(t))
			return t->main->w.failed;
		b = t->blocks[t->filling];
	}
	if (make_room(b, f->bytes.size))
		return -1;
	if (!t->any)
		b->first = t->any = true;
	memcpy(b->bytes + b->used, f->bytes.data, f->bytes.size);
	b->items[b->nr_items++] = (struct item){
		.offset = f->offset, .inner_offset = f->inner_offset, .desc = f->desc, .attr = r->attr, .plan = r->plan,
		.trailer = r->trailer, .file = r->file, .type = f->type, .at = (uint32_t)b->used,
		.size = (uint32_t)f->bytes.size, .trailer_size = (uint32_t)r->trailer_bytes.size,
		.nr_ops = r->extent.nr_ops, .end = (uint32_t)r->extent.end, .misc = f->misc, .header_size = f->size,
		.state = (uint8_t)f->state, .variant = (uint8_t)r->extent.variant, .code = (uint8_t)r->extent.code };
	b->used += f->bytes.size;
	return 0;
}

void pd_json_team_is_not_first(struct pd_json_team *t)
{
	t->any = true;
}

int pd_json_team_drain(struct pd_json_team *t)
{
	if (t->blocks[t->filling]->nr_items && submit(t))
		return t->main->w.failed;
	pthread_mutex_lock(&t->lock);
	put_done(t);
	while (t->oldest != t->filling)
		help(t);
	pthread_mutex_unlock(&t->lock);
	return t->main->w.failed;
}

static int start_worker(struct pd_json_team *t, struct worker *w, bool own_thread)
{
	w->team = t;
	w->buffer = malloc(PD_JSONW_BUFFER + 1);
	if (!w->buffer)
		return -1;
	w->j.options = t->main->options;
	w->j.reader = t->main->reader;
	w->j.session = t->main->session;
	w->j.own.limit = t->main->own.limit;
	w->j.arena.budget = w->j.counts.others.budget = &w->j.own;
	if (!own_thread)
		return 0;
	w->started = pthread_create(&w->thread, NULL, work, w) == 0;
	return w->started ? 0 : -1;
}

struct pd_json_team *pd_json_team_new(struct pd_json *j, unsigned int threads)
{
	struct pd_json_team *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->main = j;
	t->nr_workers = threads;
	t->nr_blocks = 2 * threads + 1;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->filled, NULL);
	pthread_cond_init(&t->done, NULL);
	t->blocks = calloc(t->nr_blocks, sizeof(*t->blocks));
	t->workers = calloc(threads, sizeof(*t->workers));
	for (size_t i = 0; t->blocks && i < t->nr_blocks; i++) {
		t->blocks[i] = calloc(1, sizeof(**t->blocks));
		if (!t->blocks[i])
			goto fail;
	}
	if (!t->blocks || !t->workers)
		goto fail;
	for (size_t i = 0; i < threads; i++)
		if (start_worker(t, &t->workers[i], i > 0))
			goto fail;
	return t;
fail:
	pd_json_team_free(t);
	return NULL;
}

void pd_json_team_free(struct pd_json_team *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->quit = true;
	pthread_cond_broadcast(&t->filled);
	pthread_mutex_unlock(&t->lock);
	for (size_t i = 0; t->workers && i < t->nr_workers; i++) {
		struct worker *w = &t->workers[i];

		if (w->started)
			pthread_join(w->thread, NULL);
		pd_budget_free(&w->j.own, w->j.labels, w->j.nr_labels * sizeof(*w->j.labels));
		pd_arena_free(&w->j.arena);
		free(w->buffer);
	}
	for (size_t i = 0; t->blocks && i < t->nr_blocks && t->blocks[i]; i++) {
		free(t->blocks[i]->bytes);
		free(t->blocks[i]->out);
		free(t->blocks[i]->missing);
		free(t->blocks[i]);
	}
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->filled);
	pthread_mutex_destroy(&t->lock);
	free(t->blocks);
	free(t->workers);
	free(t);
}
