/* json_block.c - records that wait for a thread, and the JSON that it makes of them. */
#include "sink/json_block.h"

#include <stdlib.h>

#define FIRST_TEXT (512 * 1024)		/* holds the text of most blocks; one that needs more keeps what it got */

struct pd_json_block *pd_json_block_new(void)
{
	struct pd_json_block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->text = malloc(FIRST_TEXT);
	b->text_capacity = FIRST_TEXT;
	if (b->text)
		return b;
	free(b);
	return NULL;
}

void pd_json_block_free(struct pd_json_block *b)
{
	if (!b)
		return;
	free(b->bytes);
	free(b->text);
	free(b->missing);
	free(b);
}

void pd_json_block_empty(struct pd_json_block *b)
{
	b->nr_items = b->used = 0;
	b->first = false;
}

static int make_room(struct pd_json_block *b, size_t n)
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

int pd_json_block_add(struct pd_json_block *b, const struct pd_record *r)
{
	const struct pd_frame *f = &r->frame;

	if (b->nr_items == PD_JSON_BLOCK_RECORDS || (b->used && b->used + f->bytes.size > PD_JSON_BLOCK_BYTES))
		return 0;
	if (make_room(b, f->bytes.size))
		return -1;
	memcpy(b->bytes + b->used, f->bytes.data, f->bytes.size);
	b->items[b->nr_items++] = (struct pd_json_item){
		.offset = f->offset, .inner_offset = f->inner_offset, .desc = f->desc, .attr = r->attr, .plan = r->plan,
		.trailer = r->trailer, .file = r->file, .type = f->type, .at = (uint32_t)b->used,
		.size = (uint32_t)f->bytes.size, .trailer_size = (uint32_t)r->trailer_bytes.size,
		.nr_ops = r->extent.nr_ops, .end = (uint32_t)r->extent.end, .misc = f->misc, .header_size = f->size,
		.state = (uint8_t)f->state, .variant = (uint8_t)r->extent.variant, .code = (uint8_t)r->extent.code };
	b->used += f->bytes.size;
	return 1;
}

static void restore(const struct pd_json_block *b, const struct pd_json_item *i, struct pd_record *r)
{
	const uint8_t *bytes = b->bytes + i->at;
	const size_t head = i->state == PD_FRAME_SKIPPED ? 0 : PD_RECORD_HEADER_SIZE;

	r->frame = (struct pd_frame){
		.type = i->type, .misc = i->misc, .size = i->header_size, .bytes = { bytes, i->size },
		.offset = i->offset, .inner_offset = i->inner_offset, .desc = i->desc, .state = i->state };
	r->attr = i->attr;
	r->plan = i->plan;
	r->trailer = i->trailer;
	r->body = (struct pd_bytes){ bytes + head, i->size - head - i->trailer_size };
	r->trailer_bytes = (struct pd_bytes){ bytes + i->size - i->trailer_size, i->trailer_size };
	r->extent = (struct pd_extent_of){
		.nr_ops = i->nr_ops, .variant = i->variant, .end = i->end, .code = (enum pd_code)i->code };
	r->file = i->file;
}

/* --- the text --- */

/* A block and the writer that fills its text. */
struct filling {
	struct pd_json_block *block;
	struct pd_jsonw *w;
};

static char *text_end(const struct pd_json_block *b)
{
	return b->text + b->text_capacity - PD_JSONW_SLACK;
}

/* What is flushed stays where it is: the writer goes on behind it, in a larger text. */
static int keep(void *ctx, const void *p, size_t n)
{
	const struct filling *f = ctx;
	struct pd_json_block *b = f->block;
	char *text;

	(void)p;
	b->text_size += n;
	if (f->w->at > f->w->end) {
		text = realloc(b->text, 2 * b->text_capacity);
		if (!text) {
			b->failed = true;
			return -1;
		}
		b->text = text;
		b->text_capacity *= 2;
	}
	f->w->at = f->w->buffer = b->text + 1 + b->text_size;
	f->w->end = text_end(b);
	return 0;
}

static void note_missing(struct pd_json_block *b, const struct pd_record *r, size_t have)
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

static void write_record(struct pd_json_block *b, struct pd_json *j, const struct pd_record *r)
{
	pd_json_write_record(j, r);
	if (!j->fields_missing)
		return;
	note_missing(b, r, j->raw_data.size);
	if (j->options.shape == PD_JSON_LINES)
		pd_json_write_missing(j, r);
}

void pd_json_block_write(struct pd_json_block *b, struct pd_json *j)
{
	struct filling filling = { b, &j->w };
	struct pd_record r = { .session = j->session };

	b->text_size = b->nr_missing = 0;
	b->failed = false;
	b->text[0] = b->first ? '[' : '\n';	/* the comma rule looks at the last byte */
	j->w = (struct pd_jsonw){ .at = b->text + 1, .buffer = b->text + 1, .end = text_end(b), .out = { keep, &filling } };
	j->chains[0].text = j->chains[1].text = NULL;	/* that text is gone */
	for (size_t i = 0; i < b->nr_items; i++) {
		restore(b, &b->items[i], &r);
		write_record(b, j, &r);
	}
	pd_jsonw_flush(&j->w);
}
