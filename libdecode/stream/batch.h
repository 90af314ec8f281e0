/* batch.h - records in a row of which there is nothing to say: whole, of a known event, and filled by their fields.
 *
 * Most records of most files are such. They are found by what their headers and their event's plan say, in one loop, and
 * need neither to be prepared to be counted, nor to be looked at again before another thread shows them.
 */
#ifndef PD_STREAM_BATCH_H
#define PD_STREAM_BATCH_H

#include "stream/record.h"

#define PD_BATCH_RECORDS 512

/* One of them. */
struct pd_simple {
	const struct pd_attr *attr;	/* its event */
	const struct pd_plan *plan;	/* of its body, all rows of which are there */
	uint32_t at;			/* from the run's first byte */
	uint16_t size;
	uint8_t type;
};

struct pd_batch {
	const uint8_t *data;	/* in the input's window: valid until the next frame is asked for */
	uint64_t offset;	/* of the first one, as in struct pd_frame */
	uint64_t inner_offset;	/* of the first one, or PD_OUTER: of all */
	const char *file;	/* in a directory, or NULL */
	uint32_t size;		/* bytes of all */
	uint32_t count, next;	/* of records; the first one that has not been taken */
	struct pd_simple records[PD_BATCH_RECORDS];
};

/* The plain records that come next, as far as the window has them; none: pd_stream_next() tells what is next. They count as
 * taken from the stream. */
void pd_stream_batch(struct pd_stream *s, struct pd_batch *batch);

/* Did the last run end where the window does, and does the file go on? Then *at is where bytes are wanted. */
bool pd_stream_needs_input(const struct pd_stream *s, uint64_t *at);

/* Reads them, or takes them from `ahead`, where that has a window with them; it is used up. Only when they are wanted. False:
 * pd_stream_next() tells what is wrong. */
bool pd_stream_read_on(struct pd_stream *s, struct pd_read_ahead *ahead);

/* Keeps the bytes of the run that was found last where they are until the window is released, or the stream freed. */
struct pd_window *pd_stream_pin(struct pd_stream *s, const struct pd_batch *batch);

/* What pd_record_prepare() makes of one. */
void pd_batch_record(const struct pd_batch *batch, const struct pd_simple *p, struct pd_session *s, struct pd_record *r);

static inline size_t pd_simple_trailer_size(const struct pd_simple *p)
{
	return p->type == PD_RECORD_SAMPLE ? 0 : p->attr->trailer_size;
}

/* Of that the parts that pd_record_number() looks into. */
static inline void pd_batch_parts(const struct pd_batch *batch, const struct pd_simple *p, struct pd_record *r)
{
	const uint8_t *data = batch->data + p->at;
	const size_t trailer = pd_simple_trailer_size(p);

	r->attr = p->attr;
	r->plan = p->plan;
	r->body = (struct pd_bytes){ data + PD_RECORD_HEADER_SIZE, p->size - PD_RECORD_HEADER_SIZE - trailer };
	r->trailer = trailer ? p->attr->trailer : NULL;
	r->trailer_bytes = (struct pd_bytes){ trailer ? data + p->size - trailer : NULL, trailer };
}

/* A usual number of its body, of its trailer (of a sample's body). False: not there. */
static inline bool pd_simple_number(const struct pd_batch *batch, const struct pd_simple *p, enum pd_hot which,
				    enum pd_swap swap, uint64_t *out)
{
	const struct pd_op *op = p->plan->hot[which];

	if (op)
		*out = pd_op_value(op, batch->data + p->at + PD_RECORD_HEADER_SIZE, swap);
	return op;
}

static inline bool pd_simple_time(const struct pd_batch *batch, const struct pd_simple *p, enum pd_swap swap, uint64_t *time)
{
	const struct pd_op *op = p->attr->trailer->hot[PD_HOT_TIME];

	if (p->type == PD_RECORD_SAMPLE)
		return pd_simple_number(batch, p, PD_HOT_TIME, swap, time);
	if (op)
		*time = pd_op_value(op, batch->data + p->at + p->size - p->attr->trailer_size, swap);
	return op;
}

#endif
