/* speculative_reader.c - reads segments of a file in parallel with its reader: see
 * speculative_reader.h. */
#include "reader/speculative_reader.h"

#include <stdlib.h>

#include "reader/reader_internal.h"

#define OWN_MEMORY (8u << 20)	/* for a piece of a mapped file, and plans */

struct pd_speculative_reader {
	struct pd_reader reader;	/* an independent reader of the same file, whose session is
					 * never updated */
	struct pd_reader *of;
	uint64_t until;
	struct pd_segment read;
};

static bool charge_memory(struct pd_budget *b)
{
	if (b->used > b->limit || b->limit - b->used < OWN_MEMORY)
		return false;
	b->used += OWN_MEMORY;
	return true;
}

struct pd_speculative_reader *pd_speculative_reader_new(struct pd_reader *of, size_t piece)
{
	struct pd_speculative_reader *b = of->order ? NULL : calloc(1, sizeof(*b));
	struct pd_reader *r = b ? &b->reader : NULL;

	if (!b || !charge_memory(&of->budget)) {
		free(b);
		return NULL;
	}
	pd_session_name_events(&of->session);
	b->of = of;
	r->budget.limit = OWN_MEMORY;
	r->container.info.mode = of->container.info.mode;
	r->file = of->file;
	pd_session_clone(&of->session, &r->budget, &r->session);
	r->record.session = &r->session;
	r->source = pd_source_clone(of->stream.source, piece, &r->budget);
	if (!r->source) {
		pd_speculative_reader_free(b);
		return NULL;
	}
	pd_stream_init(&r->stream, r->source, &r->session, of->stream.end, 1);
	return b;
}

void pd_speculative_reader_free(struct pd_speculative_reader *b)
{
	if (!b)
		return;
	pd_stream_free(&b->reader.stream);
	pd_session_leave_clone(&b->reader.session);
	if (b->reader.source)
		pd_source_close(b->reader.source);
	b->of->budget.used -= OWN_MEMORY;
	free(b);
}

struct pd_session *pd_speculative_reader_session(struct pd_speculative_reader *b)
{
	return &b->reader.session;
}

static uint64_t position(const struct pd_speculative_reader *b)
{
	const struct pd_stream *s = &b->reader.stream;

	return pd_source_offset(s->source) + s->pending;
}

bool pd_speculative_reader_find_segment(struct pd_speculative_reader *b, uint64_t from,
					uint64_t until, const struct pd_sample_head *before)
{
	struct pd_reader *r = &b->reader;
	bool found;

	r->batch.next = r->batch.count = 0;
	r->stream.run_until = b->until = until;
	found = pd_stream_find_segment(&r->stream, from, before);
	b->read = (struct pd_segment){ .begin = position(b), .end = position(b) };
	return found;
}

static void note_first(struct pd_speculative_reader *b, uint32_t type, struct pd_bytes record)
{
	if (type == PD_RECORD_SAMPLE && !b->read.first.size)
		pd_sample_head_of(&b->read.first, record);
}

struct pd_batch *pd_speculative_reader_batch(struct pd_speculative_reader *b)
{
	struct pd_reader *r = &b->reader;
	struct pd_read_ahead none = { .size = 0 };
	struct pd_batch *batch = pd_reader_batch(r);
	uint64_t ignored;

	if (!batch && position(b) < b->until && pd_reader_needs_input(r, &ignored) &&
	    pd_reader_read_on(r, &none))
		batch = pd_reader_batch(r);
	for (size_t i = 0; batch && !b->read.first.size && i < batch->count; i++)
		note_first(b, batch->records[i].type,
			   (struct pd_bytes){ batch->data + batch->records[i].at,
					      batch->records[i].size });
	return batch;
}

const struct pd_record *pd_speculative_reader_next(struct pd_speculative_reader *b)
{
	const struct pd_record *record = position(b) < b->until ? pd_reader_peek(&b->reader) : NULL;

	if (!record)
		return NULL;
	note_first(b, record->frame.type, record->frame.bytes);
	pd_reader_take(&b->reader);
	return record;
}

const struct pd_segment *pd_speculative_reader_segment(struct pd_speculative_reader *b)
{
	b->read.end = position(b);
	if (b->read.first.size)
		pd_stream_last_sample(&b->reader.stream, &b->read.last);
	return &b->read;
}

bool pd_reader_position(struct pd_reader *r, uint64_t *at, struct pd_sample_head *before)
{
	if (r->order || r->stopped.code || r->batch.next < r->batch.count ||
	    !pd_stream_position(&r->stream, at))
		return false;
	pd_stream_last_sample(&r->stream, before);
	return true;
}

uint64_t pd_reader_end(const struct pd_reader *r)
{
	uint64_t size;

	return pd_source_size(r->stream.source, &size) && size < r->stream.end ? size :
										 r->stream.end;
}

void pd_reader_batch_until(struct pd_reader *r, uint64_t offset)
{
	r->stream.run_until = offset;
}

bool pd_reader_adopt(struct pd_reader *r, const struct pd_segment *done)
{
	return pd_stream_adopt(&r->stream, done);
}
