/* json_block.c - records that wait for a worker, and the JSON that it writes for them. */
#include "json/json_block.h"

#include <stdlib.h>

/* Enough for the text of most blocks. A larger output buffer is not shrunk. The maximum, which must
 * be INITIAL times a power of 2, bounds the text: names can turn each byte into 100. */
#define OUTBUF_INITIAL (512 * 1024)
#define OUTBUF_MAX (2 * 1024 * 1024)

struct pd_json_block *pd_json_block_new(void)
{
	struct pd_json_block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->bytes = malloc(PD_JSON_BLOCK_BYTES);
	b->capacity = PD_JSON_BLOCK_BYTES;
	if (b->bytes)
		return b;
	free(b);
	return NULL;
}

void pd_json_block_free(struct pd_json_block *b)
{
	if (!b)
		return;
	free(b->bytes);
	free(b->missing);
	free(b);
}

static void release_window(struct pd_json_block *b)
{
	pd_window_release(b->pinned);
	b->pinned = NULL;
}

void pd_json_block_clear(struct pd_json_block *b)
{
	b->nr_spans = b->nr_simples = b->nr_items = b->size = b->used = 0;
	b->first = false;
	release_window(b);
}

/* A single record may be larger than a block. */
static int reserve_bytes(struct pd_json_block *b, size_t n)
{
	uint8_t *bytes;

	if (n <= b->capacity - b->used)
		return 0;
	bytes = realloc(b->bytes, n);
	if (!bytes)
		return -1;
	b->bytes = bytes;
	b->capacity = n;
	return 0;
}

static inline size_t count_records(const struct pd_json_block *b)
{
	return b->nr_simples + b->nr_items;
}

static bool fits_in_block(const struct pd_json_block *b, size_t size)
{
	return count_records(b) < PD_JSON_BLOCK_RECORDS &&
	       (!b->size || b->size + size <= PD_JSON_BLOCK_BYTES);
}

/* Returns the span at the end of the block, which is or becomes one of items. */
static struct pd_json_span *last_item_span(struct pd_json_block *b)
{
	struct pd_json_span *span = &b->spans[b->nr_spans];

	if (b->nr_spans && !span[-1].data)
		return &span[-1];
	b->nr_spans++;
	*span = (struct pd_json_span){ .from = (uint32_t)b->nr_items };
	return span;
}

/* Lets a record refer to a copy of its bytes. */
static void move_record(struct pd_record *r, const uint8_t *copy)
{
	const uint8_t *bytes = r->frame.bytes.data;

	r->frame.bytes.data = copy;
	r->body.data = copy + (r->body.data - bytes);
	if (r->trailer_bytes.data)
		r->trailer_bytes.data = copy + (r->trailer_bytes.data - bytes);
}

int pd_json_block_add(struct pd_json_block *b, const struct pd_record *r)
{
	const struct pd_bytes bytes = r->frame.bytes;
	uint8_t *copy;

	if (!fits_in_block(b, bytes.size))
		return 0;
	if (reserve_bytes(b, bytes.size))
		return -1;
	copy = b->bytes + b->used;
	memcpy(copy, bytes.data, bytes.size);
	last_item_span(b)->count++;
	b->items[b->nr_items] = *r;
	move_record(&b->items[b->nr_items++], copy);
	b->size += bytes.size;
	b->used += bytes.size;
	return 1;
}

/* Returns how many records fit; they take *size bytes. */
static uint32_t count_fitting(const struct pd_json_block *b, const struct pd_batch *batch,
			      size_t *size)
{
	const struct pd_simple *first = &batch->records[batch->next];
	const uint32_t room = (uint32_t)(PD_JSON_BLOCK_RECORDS - count_records(b));
	uint32_t n = batch->count - batch->next < room ? batch->count - batch->next : room;

	for (; n; n--) {
		*size = first[n - 1].at + first[n - 1].size - first->at;
		if (*size <= PD_JSON_BLOCK_BYTES - b->size)
			return n;
	}
	return 0;
}

/* Returns where the batch's bytes are when the block is written. NULL: another window is pinned. */
static const uint8_t *pin_or_copy(struct pd_json_block *b, const struct pd_batch *batch,
				  size_t size, struct pd_reader *reader)
{
	const uint32_t at = batch->records[batch->next].at;
	uint8_t *copy = b->bytes + b->used;
	struct pd_window *window;

	if (!pd_reader_pin_batch(reader, batch, &window)) {
		memcpy(copy, batch->data + at, size);
		b->used += size;
		return copy - at;
	}
	if (b->pinned)
		pd_window_release(window);
	else
		b->pinned = window;
	return b->pinned == window ? batch->data : NULL;
}

void pd_json_block_add_batch(struct pd_json_block *b, struct pd_batch *batch,
			     struct pd_reader *reader)
{
	size_t size;
	const uint32_t n = b->size < PD_JSON_BLOCK_BYTES ? count_fitting(b, batch, &size) : 0;
	const uint8_t *data = n ? pin_or_copy(b, batch, size, reader) : NULL;

	if (!data)
		return;
	memcpy(b->simples + b->nr_simples, batch->records + batch->next, n * sizeof(*b->simples));
	b->spans[b->nr_spans++] = (struct pd_json_span){
		.data = data, .offset = batch->offset, .inner_offset = batch->inner_offset,
		.file = batch->file, .from = (uint32_t)b->nr_simples, .count = n };
	b->nr_simples += n;
	b->size += size;
	batch->next += n;
}

/* --- the text --- */

/* An output buffer and the JSON writer that fills it. */
struct outbuf_writer {
	struct pd_json_outbuf *outbuf;
	struct pd_jsonw *w;
	struct pd_output full;
};

static int grow_outbuf(struct pd_json_outbuf *outbuf)
{
	const size_t capacity = outbuf->capacity ? 2 * outbuf->capacity : OUTBUF_INITIAL;
	char *text = realloc(outbuf->text, capacity);

	if (!text)
		return -1;
	outbuf->text = text;
	outbuf->capacity = capacity;
	return 0;
}

/* Lets the writer continue after the text in the output buffer. */
static void resume_writer(struct pd_jsonw *w, const struct pd_json_outbuf *outbuf)
{
	w->at = w->buffer = outbuf->text + 1 + outbuf->size;
	w->end = outbuf->text + outbuf->capacity - PD_JSONW_SLACK;
}

/* Empties an output buffer of the maximum size into `full`. */
static int empty_outbuf(const struct outbuf_writer *f)
{
	struct pd_json_outbuf *outbuf = f->outbuf;
	const int err = f->full.write(f->full.ctx, outbuf->text + 1, outbuf->size);

	outbuf->text[0] = outbuf->text[outbuf->size];
	outbuf->size = 0;
	return err;
}

/* The writer's output: flushed text is in the output buffer already. */
static int flush_to_outbuf(void *ctx, const void *p, size_t n)
{
	const struct outbuf_writer *f = ctx;
	int err = 0;

	(void)p;
	f->outbuf->size += n;
	if (f->w->at > f->w->end)
		err = f->outbuf->capacity < OUTBUF_MAX ? grow_outbuf(f->outbuf) :
							    empty_outbuf(f);
	if (err)
		return err;
	resume_writer(f->w, f->outbuf);
	return 0;
}

static void add_missing(struct pd_json_block *b, const struct pd_record *r, size_t have)
{
	if (b->nr_missing == b->missing_capacity) {
		size_t capacity = b->missing_capacity ? 2 * b->missing_capacity : 16;
		struct pd_json_missing *m = realloc(b->missing, capacity * sizeof(*m));

		if (!m) {
			b->failed = true;
			return;
		}
		b->missing = m;
		b->missing_capacity = capacity;
	}
	b->missing[b->nr_missing++] = (struct pd_json_missing){
		r->frame.offset, r->attr->tracepoint->min_size, have, r->file };
}

/* Must be called if the raw data of the record just written are too short. */
static void report_missing(struct pd_json_block *b, struct pd_json *j, const struct pd_record *r)
{
	add_missing(b, r, j->raw_data.size);
	if (j->options.shape == PD_JSON_LINES)
		pd_json_write_missing(j, r);
}

static void write_simples(struct pd_json_block *b, struct pd_json *j,
			  const struct pd_json_span *span)
{
	const struct pd_simple *p = &b->simples[span->from];
	struct pd_record r;
	struct pd_batch batch;

	batch.data = span->data;
	batch.offset = span->offset;
	batch.inner_offset = span->inner_offset;
	batch.file = span->file;
	pd_batch_begin(&batch, j->session, &r);
	for (const struct pd_simple *end = p + span->count; p < end; p++) {
		pd_json_count_simple(j, &batch, p);
		pd_json_write_simple(j, &batch, p, &r);
		if (j->fields_missing)
			report_missing(b, j, &r);
	}
}

static void write_items(struct pd_json_block *b, struct pd_json *j, const struct pd_json_span *span)
{
	for (uint32_t i = 0; i < span->count; i++) {
		const struct pd_record *r = &b->items[span->from + i];

		pd_json_write_record(j, r);
		if (j->fields_missing)
			report_missing(b, j, r);
	}
}

static void write_spans(struct pd_json_block *b, struct pd_json *j)
{
	for (size_t i = 0; i < b->nr_spans; i++) {
		if (b->spans[i].data)
			write_simples(b, j, &b->spans[i]);
		else
			write_items(b, j, &b->spans[i]);
	}
}

void pd_json_block_write(struct pd_json_block *b, struct pd_json_outbuf *outbuf, struct pd_json *j,
			 struct pd_output full)
{
	struct outbuf_writer writer = { outbuf, &j->w, full };

	b->outbuf = outbuf;
	b->nr_missing = 0;
	outbuf->size = 0;
	b->failed = !outbuf->capacity && grow_outbuf(outbuf);
	if (b->failed)
		return;
	outbuf->text[0] = b->first ? '[' : '\n';
	j->w = (struct pd_jsonw){ .out = { flush_to_outbuf, &writer } };
	resume_writer(&j->w, outbuf);
	write_spans(b, j);
	release_window(b);
	b->failed |= pd_jsonw_flush(&j->w) != 0;
}
