/* resync.h - finds the next record after damage. */
#ifndef PD_STREAM_RESYNC_H
#define PD_STREAM_RESYNC_H

#include "session/session.h"

#define PD_RESYNC_UNUSUAL 1024	/* records of this size or more are verified */
#define PD_RESYNC_SPAN (256u << 10)	/* bytes that one search covers */
#define PD_RESYNC_BLOCK 4096	/* of which multiples of 4 are tried first */
#define PD_RESYNC_CREDIT (16u << 20)	/* upper limit of the credit, in bytes */
#define PD_RESYNC_NEAR_NS (3600ull * 1000000000)
#define PD_RESYNC_RATE 16		/* credit for each byte of input */

/* Facts about earlier records. */
struct pd_resync {
	struct pd_session *session;
	uint64_t time;		/* of a recent sample; 0: none was seen */
	uint64_t credit;	/* bytes that may still be examined; see pd_resync_earn() */
};

enum pd_resync_result {
	PD_RESYNC_FOUND,	/* a record begins at `at` */
	PD_RESYNC_MORE,		/* a record may begin at `at`: more is needed, `want` bytes from the
				 * start */
	PD_RESYNC_NONE,		/* no record begins before `at` */
};

struct pd_resync_at {
	enum pd_resync_result result;
	size_t at, want;
};

enum pd_resync_end {
	PD_RESYNC_OPEN,		/* more bytes may follow */
	PD_RESYNC_CLOSED,	/* no record continues after the span */
};

static inline void pd_resync_init(struct pd_resync *r, struct pd_session *session)
{
	*r = (struct pd_resync){ .session = session, .credit = PD_RESYNC_CREDIT };
}

/* Adds to the credit for the input up to `offset`: each byte of it, counted once in *earned, allows
 * PD_RESYNC_RATE bytes to be examined. All functions below charge what they examine, so that the
 * whole search takes linear time for any input. Without credit they find and trust nothing, and the
 * reader continues with the sizes that the headers state. */
static inline void pd_resync_earn(struct pd_resync *r, uint64_t *earned, uint64_t offset)
{
	const uint64_t most = PD_RESYNC_CREDIT / PD_RESYNC_RATE;

	if (offset <= *earned)
		return;
	r->credit += PD_RESYNC_RATE * (offset - *earned < most ? offset - *earned : most);
	if (r->credit > PD_RESYNC_CREDIT)
		r->credit = PD_RESYNC_CREDIT;
	*earned = offset;
}

/* Takes `n` from the credit. Returns false, and leaves no credit, if there was less. */
static inline bool pd_resync_charge(struct pd_resync *r, uint64_t n)
{
	const bool is_enough = n <= r->credit;

	r->credit = is_enough ? r->credit - n : 0;
	return is_enough;
}

/* Finds the first chain of records in in[from ...] that can be trusted: known types, sizes that fit
 * their layouts, ids of known events, times near those before. A chain needs several records, or
 * one that is beyond doubt; if chains overlap, the latest is taken. In each block, tries multiples
 * of 4 from the start first, then every offset. */
struct pd_resync_at pd_resync_find(struct pd_resync *r, struct pd_bytes in, size_t from,
				   enum pd_resync_end end);

/* Returns whether the two times may be from one recording: within an hour. */
static inline bool pd_resync_is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < PD_RESYNC_NEAR_NS;
}

/* Returns whether time `a` is not before `b`, and both may be from one recording. */
static inline bool pd_resync_is_later(uint64_t a, uint64_t b)
{
	return a >= b && pd_resync_is_near(a, b);
}

/* Returns whether the record that fills `bytes` is beyond doubt: its event, its time and every
 * field. */
bool pd_resync_is_trusted(struct pd_resync *r, struct pd_bytes bytes);

/* The same for a prepared record that its fields fill. */
struct pd_record;
bool pd_resync_trusts(struct pd_resync *r, const struct pd_record *record);

/* Returns whether only zeros follow the text at the end of a prepared record with a plan: a text
 * row takes all bytes that are left, but writers pad with zeros only. */
bool pd_resync_text_ends_well(const struct pd_record *r);

/* Returns whether the fields of the record in `bytes` fill it. Prepares *record. */
bool pd_resync_is_filled(struct pd_resync *r, struct pd_bytes bytes, struct pd_record *record);

/* Returns whether samples of the event can be trusted that are filled by their fields and near in
 * time to the sample before. If there are several events, the sample's event must have been found
 * by its id. */
bool pd_resync_trusts_samples(const struct pd_resync *r, const struct pd_attr *a);

/* Returns whether nothing speaks against the record that fills `bytes`: its fields fill it, and no
 * others of its type would be smaller or larger, or its time is near. */
bool pd_resync_is_credible(struct pd_resync *r, struct pd_bytes bytes);

/* Finds out whether fields fill the record in[0 ... size), and a chain of records, or the end,
 * follows; PD_RESYNC_MORE if that depends on more bytes. */
enum pd_resync_result pd_resync_leads_chain(struct pd_resync *r, struct pd_bytes in, size_t size,
					    enum pd_resync_end end);

/* Returns whether the size is so usual that it needs no verification. */
static inline bool pd_resync_is_usual(const struct pd_resync *r, uint32_t type, size_t size)
{
	const struct pd_session *s = r->session;
	uint32_t fixed = PD_VARIABLE;

	if (size >= PD_RESYNC_UNUSUAL)
		return false;
	if (type == PD_RECORD_SAMPLE && s->nr_attrs && s->same_layout)
		fixed = s->attrs[0]->sample->list->size;
	return fixed == PD_VARIABLE || size == PD_RECORD_HEADER_SIZE + fixed;
}

/* Returns whether a record header may have these values. */
static inline bool pd_resync_may_begin(uint32_t type, size_t size,
				       const struct pd_record_desc *desc)
{
	return desc && size >= PD_RECORD_HEADER_SIZE &&
	       (type >= PD_RECORD_USER_START || size % 8 == 0);
}

#endif
