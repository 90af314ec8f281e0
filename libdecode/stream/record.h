/* record.h - a record with everything needed to read it; what struct pd_record of the public header is inside. */
#ifndef PD_STREAM_RECORD_H
#define PD_STREAM_RECORD_H

#include "pd/pd.h"
#include "stream/stream.h"

struct pd_record {
	struct pd_frame frame;
	struct pd_session *session;
	const struct pd_attr *attr;	/* its event, or NULL */
	const struct pd_plan *plan;	/* of the body; NULL: opaque */
	const struct pd_plan *trailer;	/* of sample_id; NULL: none */
	struct pd_bytes body, trailer_bytes;
	struct pd_extent_of extent;	/* of the body that keeps to the plan */
	const char *file;		/* in a directory, or NULL */
	struct pd_bytes payload;	/* of HEADER_TRACING_DATA: held in memory */
	struct pd_error error;		/* PD_OK: intact */
};

/* Fills in all but frame, session, file and payload. 0, or -1: no memory. */
int pd_record_prepare(struct pd_record *r);

/* The bytes that the record's own fields take with its header. Less than its stated size only where the rest is whole records:
 * damage made the size cover them. Prepared records only. */
size_t pd_record_own_size(const struct pd_record *r);

enum pd_part { PD_OF_BODY, PD_OF_TRAILER };

/* A usual number of the body or of sample_id, without walking. False: not there. */
static inline bool pd_record_number(const struct pd_record *r, enum pd_part part, enum pd_hot which, uint64_t *out)
{
	const struct pd_plan *plan = part == PD_OF_BODY ? r->plan : r->trailer;
	const struct pd_bytes bytes = part == PD_OF_BODY ? r->body : r->trailer_bytes;
	const struct pd_op *op = plan ? plan->hot[which] : NULL;

	if (!op || bytes.size < op->offset || bytes.size - op->offset < op->width)
		return false;
	*out = pd_op_value(op, bytes.data, r->session->swap);
	return true;
}

/* pd_record_time(), for who asks it of each record. */
static inline bool pd_record_hot_time(const struct pd_record *r, uint64_t *time)
{
	return pd_record_number(r, r->frame.type == PD_RECORD_SAMPLE ? PD_OF_BODY : PD_OF_TRAILER, PD_HOT_TIME, time);
}

/* The part of pd_record_visit() that shows sample_id; there is one. */
void pd_record_visit_trailer(const struct pd_record *r, const struct pd_visitor *v, void *ctx);

/* Bytes of the body that the layout does not explain. */
static inline struct pd_bytes pd_record_trailing(const struct pd_record *r)
{
	return (struct pd_bytes){ r->body.data + r->extent.end, r->body.size - r->extent.end };
}

#endif
