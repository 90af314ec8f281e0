/* batch.h - records in a row that are simple: whole, of a known event, filled by their fields.
 *
 * Most records of most files are simple. One loop finds them by their headers and their event's
 * plan. They can be counted without being prepared, and formatted by another thread without being
 * checked again.
 */
#ifndef PD_STREAM_BATCH_H
#define PD_STREAM_BATCH_H

#include "stream/record.h"

#define PD_BATCH_RECORDS 512

/* A record of a batch. */
struct pd_simple {
	const struct pd_attr *attr;
	const struct pd_plan *plan;	/* of the body; all its rows are present */
	uint32_t at;			/* offset from pd_batch.data */
	uint16_t size;
	uint8_t type;
};

struct pd_batch {
	const uint8_t *data;	/* in the input's window; valid until the next frame is read */
	uint64_t offset;	/* of the first record, as in struct pd_frame */
	uint64_t inner_offset;	/* of the first record; PD_OUTER: none was compressed */
	const char *file;	/* in a directory, or NULL */
	uint32_t size;		/* bytes of all records */
	uint32_t count, next;	/* number of records; first one that was not taken */
	struct pd_simple records[PD_BATCH_RECORDS];
};

/* Fills in the simple records that come next, as far as the window has them, and takes them from
 * the stream. A count of 0 means that pd_stream_next() must be called. */
void pd_stream_batch(struct pd_stream *s, struct pd_batch *batch);

/* Pins the bytes of the last batch until the window is released or the stream freed. */
struct pd_window *pd_stream_pin(struct pd_stream *s, const struct pd_batch *batch);

/* Fills in *r as pd_record_prepare() would. */
void pd_batch_record(const struct pd_batch *batch, const struct pd_simple *p, struct pd_session *s,
		     struct pd_record *r);

static inline size_t pd_simple_trailer_size(const struct pd_simple *p)
{
	return p->type == PD_RECORD_SAMPLE ? 0 : p->attr->trailer_size;
}

/* Fills in only the members that pd_record_number() reads. */
static inline void pd_batch_parts(const struct pd_batch *batch, const struct pd_simple *p,
				  struct pd_record *r)
{
	const uint8_t *data = batch->data + p->at;
	const size_t trailer = pd_simple_trailer_size(p);

	r->attr = p->attr;
	r->plan = p->plan;
	r->body = (struct pd_bytes){ data + PD_RECORD_HEADER_SIZE,
				     p->size - PD_RECORD_HEADER_SIZE - trailer };
	r->trailer = trailer ? p->attr->trailer : NULL;
	r->trailer_bytes = (struct pd_bytes){ trailer ? data + p->size - trailer : NULL, trailer };
}

static inline uint64_t pd_simple_offset(const struct pd_batch *batch, const struct pd_simple *p)
{
	return batch->inner_offset == PD_OUTER ? batch->offset + p->at : batch->offset;
}

static inline uint64_t pd_simple_inner_offset(const struct pd_batch *batch,
					      const struct pd_simple *p)
{
	return batch->inner_offset == PD_OUTER ? PD_OUTER : batch->inner_offset + p->at;
}

/* For all records of a batch, one after the other: sets what is the same for all. */
void pd_batch_begin(const struct pd_batch *batch, struct pd_session *s, struct pd_record *r);
/* Sets the rest, for one of them. */
static inline void pd_batch_set(const struct pd_batch *batch, const struct pd_simple *p,
				struct pd_record *r)
{
	const uint8_t *data = batch->data + p->at;

	r->frame.type = p->type;
	r->frame.misc = pd_record_header_load(data, r->session->swap).misc;
	r->frame.size = p->size;
	r->frame.bytes = (struct pd_bytes){ data, p->size };
	r->frame.desc = pd_record_desc(p->type);
	r->frame.offset = pd_simple_offset(batch, p);
	r->frame.inner_offset = pd_simple_inner_offset(batch, p);
	pd_batch_parts(batch, p, r);
	r->extent.nr_ops = p->plan->list->nr_ops;
	r->extent.end = r->body.size;
}

/* Gets a hot field of the body, without walking. Returns false if the record has no such field. */
static inline bool pd_simple_number(const struct pd_batch *batch, const struct pd_simple *p,
				    enum pd_hot which, enum pd_swap swap, uint64_t *out)
{
	const struct pd_op *op = p->plan->hot[which];

	if (op)
		*out = pd_op_value(op, batch->data + p->at + PD_RECORD_HEADER_SIZE, swap);
	return op;
}

static inline bool pd_simple_time(const struct pd_batch *batch, const struct pd_simple *p,
				  enum pd_swap swap, uint64_t *time)
{
	const struct pd_op *op = p->attr->trailer->hot[PD_HOT_TIME];

	if (p->type == PD_RECORD_SAMPLE)
		return pd_simple_number(batch, p, PD_HOT_TIME, swap, time);
	if (op)
		*time = pd_op_value(op, batch->data + p->at + p->size - p->attr->trailer_size,
				    swap);
	return op;
}

#endif
