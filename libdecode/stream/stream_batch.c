/* stream_batch.c - finds the simple records that come next: see batch.h. Doubtful
 * records are left to stream.c and record.c, which would read each of these as the same record. */
#include "stream/batch.h"
#include "stream/stream_internal.h"

#define HEADER PD_RECORD_HEADER_SIZE
#define CACHE_LINE 64
#define FETCH_AHEAD 4096	/* the hardware prefetcher stops at the end of a page */
#define LARGE_AHEAD 4		/* records */
#define LARGE_LINES 5		/* of a large record's head: up to the size of a copied stack */

/* Bytes to be framed. */
struct span {
	const uint8_t *data;
	uint64_t size;
	uint64_t followed_to;	/* up to here the stream follows headers: see struct pd_lost */
};

/* Returns whether only its NUL and padding to 8 follow a text: more may be records that a damaged
 * size covers. */
static inline bool ends_with_text(const struct pd_op_list *list, struct pd_bytes body,
				  enum pd_swap swap)
{
	const size_t at = pd_tail_at(list, body, swap);

	return at <= body.size &&
	       (body.size - at <= 8 || !memchr(body.data + at, 0, body.size - at - 8));
}

/* Returns whether all rows of the plan are present and fill the body. */
static inline bool fills_body(const struct pd_plan *plan, struct pd_bytes body, uint16_t misc,
			      enum pd_swap swap)
{
	const struct pd_op_list *list = plan->list;
	struct pd_extent_of extent;

	if (list->size != PD_VARIABLE)
		return list->size == body.size;
	if (list->tail == PD_TAIL_TEXT)
		return ends_with_text(list, body, swap);
	if (list->tail != PD_TAIL_NONE)
		return pd_tail_end(list, body, swap) == body.size;
	pd_measure(plan, body, misc, swap, PD_TEXT_TO_END, &extent);
	return extent.code == PD_OK && extent.end == body.size && extent.nr_ops == list->nr_ops &&
	       extent.variant == 0;
}

static inline const struct pd_attr *find_event(struct pd_session *s, uint32_t type,
					       struct pd_bytes record)
{
	struct pd_attr *a;

	if ((a = pd_session_only_event(s)))
		return a;
	if (type == PD_RECORD_SAMPLE && (a = pd_session_last_event(s, record)))
		return a;
	return pd_session_attr_of(s, type, record, &a) == PD_FOUND ? a : NULL;
}

/* Fills in *p for a record with a sound header. Returns false if the record is not simple. */
static inline bool is_simple(struct pd_session *s, const struct pd_record_desc *desc,
			     struct pd_bytes record, uint16_t misc, struct pd_simple *p)
{
	struct pd_bytes body = { record.data + HEADER, record.size - HEADER };
	const struct pd_attr *a = find_event(s, desc->type, record);

	if (!a || a->named_at != s->updates)
		return false;
	p->attr = a;
	if (desc->type == PD_RECORD_SAMPLE) {
		p->plan = a->sample;
	} else {
		if (desc->trailer != PD_TRAILER || body.size < a->trailer_size)
			return false;
		body.size -= a->trailer_size;
		misc = pd_layout_misc(desc, misc, a->flags, body, s->swap);
		p->plan = desc->type == PD_RECORD_READ ? a->read :
							 pd_session_record_plan(s, desc, misc);
	}
	return p->plan && fills_body(p->plan, body, misc, s->swap);
}

/* The last sample gives the time when framing is lost. */
static void keep_sample(struct pd_stream *s, const struct pd_batch *batch)
{
	for (size_t i = batch->count; i--;)
		if (batch->records[i].type == PD_RECORD_SAMPLE) {
			s->last_sample = (struct pd_bytes){ batch->data + batch->records[i].at,
							    batch->records[i].size };
			return;
		}
}

/* Verifies a large record: a damaged size would swallow the records after it. Only samples can be
 * trusted. A sample directly after a trusted one needs only the time. */
static bool is_trusted(struct pd_stream *s, const struct pd_batch *batch, const struct pd_simple *p)
{
	const struct pd_simple *before = batch->count ? p - 1 : NULL;
	struct pd_record record;
	uint64_t time, last;

	if (p->type != PD_RECORD_SAMPLE)
		return false;
	if (before && before->type == PD_RECORD_SAMPLE &&
	    pd_resync_trusts_samples(&s->resync, p->attr) &&
	    pd_simple_time(batch, p, s->session->swap, &time) &&
	    pd_simple_time(batch, before, s->session->swap, &last) && last &&
	    pd_resync_is_near(time, last))
		return true;
	keep_sample(s, batch);
	pd_lost_set_time(s);
	pd_batch_record(batch, p, s->session, &record);
	return pd_resync_trusts(&s->resync, &record);
}

/* The values of a record header. */
struct head {
	const struct pd_record_desc *desc;
	uint32_t type;
	uint16_t misc, size;
};

static inline bool read_head(const uint8_t *p, enum pd_swap swap, struct head *h)
{
	const struct pd_record_header at = pd_record_header_load(p, swap);

	*h = (struct head){ pd_record_desc(at.type), at.type, at.misc, at.size };
	return pd_resync_may_begin(h->type, h->size, h->desc);
}

/* Returns whether records of this type update nothing and have no payload. */
static inline bool may_be_simple(const struct head *h)
{
	return h->type < PD_RECORD_USER_START && !h->desc->opaque && !h->desc->payload &&
	       !h->desc->compressed;
}

/* Prefetches what is needed soon: every line of small records, the heads of large ones, assuming
 * that the next ones have this size. Prefetching an invalid address is harmless. (Always inlined,
 * because gcc removes a function that only prefetches.) */
static inline __attribute__((always_inline)) void fetch_ahead(const uint8_t *data, uint16_t size)
{
	const uintptr_t at = (uintptr_t)data, head = at + LARGE_AHEAD * (size_t)size;

	if (size < PD_RESYNC_UNUSUAL) {
		__builtin_prefetch((const void *)(size < 2 * CACHE_LINE ? at + FETCH_AHEAD :
									  at + 32 * (size_t)size));
		return;
	}
	for (int i = -1; i < LARGE_LINES; i++)	/* the one before has the end of another record */
		__builtin_prefetch((const void *)(head + (uintptr_t)(i * CACHE_LINE)));
}

static void frame_batch(struct pd_stream *s, struct span in, struct pd_batch *batch)
{
	const enum pd_swap swap = s->session->swap;
	struct head h, next;
	uint64_t at = 0;

	batch->data = in.data;
	if (!read_head(in.data, swap, &h))
		return;
	for (; batch->count < PD_BATCH_RECORDS; batch->count++, h = next) {
		struct pd_simple *p = &batch->records[batch->count];
		const uint8_t *data = in.data + at;

		if (!may_be_simple(&h) || in.size < at + h.size + HEADER ||
		    at + h.size < in.followed_to || !read_head(data + h.size, swap, &next))
			break;
		fetch_ahead(data, h.size);
		p->at = (uint32_t)at;
		p->size = h.size;
		p->type = (uint8_t)h.type;
		if (!is_simple(s->session, h.desc, (struct pd_bytes){ data, h.size }, h.misc, p) ||
		    (h.size >= PD_RESYNC_UNUSUAL && !is_trusted(s, batch, p)))
			break;
		at += h.size;
	}
	batch->size = (uint32_t)at;
}

static inline uint64_t distance_to(uint64_t to, uint64_t offset)
{
	return to > offset ? to - offset : 0;
}

/* Returns the bytes that come next, and sets the batch's offsets. */
static struct span next_span(const struct pd_stream *s, struct pd_batch *batch)
{
	if (s->expanding && !s->lost_inner.open) {
		struct pd_bytes left = pd_stream_inner_left(s);

		batch->offset = s->outer_offset;
		batch->inner_offset = s->inner_base + s->inner_at;
		return (struct span){ left.data, left.size,
				      distance_to(s->lost_inner.followed_to, batch->inner_offset) };
	}
	if (s->peeked.size <= s->pending)
		return (struct span){ .size = 0 };
	batch->offset = s->peeked_at + s->pending;
	batch->inner_offset = PD_OUTER;
	return (struct span){ s->peeked.data + s->pending, s->peeked.size - s->pending,
			      distance_to(s->lost.followed_to, batch->offset) };
}

static void take_batch(struct pd_stream *s, struct span in, struct pd_batch *batch)
{
	if (in.size < 2 * HEADER)
		return;
	frame_batch(s, in, batch);
	if (s->expanding)
		s->inner_at += batch->size;
	else
		s->pending += batch->size;
	keep_sample(s, batch);
}

void pd_stream_batch(struct pd_stream *s, struct pd_batch *batch)
{
	batch->count = batch->next = batch->size = 0;
	take_batch(s, next_span(s, batch), batch);
}

struct pd_window *pd_stream_pin(struct pd_stream *s, const struct pd_batch *batch)
{
	if (batch->inner_offset == PD_OUTER)
		return pd_source_pin(s->source);
	pd_window_pin(s->inner.now);
	return s->inner.now;
}

void pd_batch_begin(const struct pd_batch *batch, struct pd_session *s, struct pd_record *r)
{
	r->frame = (struct pd_frame){ .offset = batch->offset,
				      .inner_offset = PD_OUTER,
				      .state = PD_FRAME_WHOLE };
	r->session = s;
	r->file = batch->file;
	r->payload = (struct pd_bytes){ NULL, 0 };
	r->extent = (struct pd_extent_of){ .code = PD_OK };
	r->error.code = PD_OK;
}

void pd_batch_record(const struct pd_batch *batch, const struct pd_simple *p, struct pd_session *s,
		     struct pd_record *r)
{
	pd_batch_begin(batch, s, r);
	pd_batch_set(batch, p, r);
}
