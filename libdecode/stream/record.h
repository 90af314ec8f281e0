/* record.h - a record and all that is needed to read it: the public struct pd_record. */
#ifndef PD_STREAM_RECORD_H
#define PD_STREAM_RECORD_H

#include "pd/pd.h"
#include "stream/stream.h"

struct pd_record {
	struct pd_frame frame;
	struct pd_session *session;
	const struct pd_attr *attr;	/* the event, or NULL: then see `found`, `layout` */
	enum pd_found found;
	const struct pd_attr *layout;	/* an event whose layout it has, or NULL */
	const struct pd_plan *plan;	/* of the body; NULL: opaque */
	const struct pd_plan *trailer;	/* of sample_id; NULL: none */
	struct pd_bytes body, trailer_bytes;
	struct pd_extent_of extent;	/* the part of the body that is valid by its plan */
	const char *file;		/* name of the data.N, or NULL */
	struct pd_bytes payload;	/* of HEADER_TRACING_DATA, which is kept in memory */
	struct pd_error error;		/* PD_OK: intact */
};

/* Fills in all members except frame, session, file and payload, which must be set. Returns 0, or -1
 * without memory. */
int pd_record_prepare(struct pd_record *r);

/* Does the same for a record that was prepared before the session changed: with what was found
 * then, since events that came later are not its own. */
int pd_record_prepare_again(struct pd_record *r, enum pd_found found,
			    const struct pd_attr *layout);

/* Returns the size of the header and the record's own fields. It is less than the stated size only
 * if whole records fill the rest: a damaged size covers them. The record must be prepared. */
size_t pd_record_own_size(const struct pd_record *r);

enum pd_part { PD_OF_BODY, PD_OF_TRAILER };

/* Gets a hot field of the body or of sample_id, without walking. Returns false if it is not
 * present. */
static inline bool pd_record_number(const struct pd_record *r, enum pd_part part, enum pd_hot which,
				    uint64_t *out)
{
	const struct pd_plan *plan = part == PD_OF_BODY ? r->plan : r->trailer;
	const struct pd_bytes bytes = part == PD_OF_BODY ? r->body : r->trailer_bytes;
	const struct pd_op *op = plan ? plan->hot[which] : NULL;

	if (!op || bytes.size < op->offset || bytes.size - op->offset < op->width)
		return false;
	*out = pd_op_value(op, bytes.data, r->session->swap);
	return true;
}

/* Inline version of pd_record_time() for loops over all records. */
static inline bool pd_record_hot_time(const struct pd_record *r, uint64_t *time)
{
	return pd_record_number(r, r->frame.type == PD_RECORD_SAMPLE ? PD_OF_BODY : PD_OF_TRAILER,
				PD_HOT_TIME, time);
}

/* Visits sample_id as pd_record_visit() does; the record must have one. */
void pd_record_visit_trailer(const struct pd_record *r, const struct pd_visitor *v, void *ctx);

/* Returns the bytes that are of no field: of the body, after the last known field, or of a record
 * that the kernel wrote too large, after sample_id. */
static inline struct pd_bytes pd_record_trailing(const struct pd_record *r)
{
	const struct pd_bytes whole = r->frame.bytes;
	size_t own;

	if (r->trailer && r->extent.end == r->body.size) {
		own = PD_RECORD_HEADER_SIZE + r->body.size + r->trailer_bytes.size;
		return (struct pd_bytes){ whole.data + own, whole.size - own };
	}
	return (struct pd_bytes){ r->body.data + r->extent.end, r->body.size - r->extent.end };
}

#endif
