/* resync.h - finds where records begin again behind bytes that are none. */
#ifndef PD_STREAM_RESYNC_H
#define PD_STREAM_RESYNC_H

#include "session/session.h"

#define PD_RESYNC_UNUSUAL 1024	/* bytes of a record that make it worth a second look */
#define PD_RESYNC_SPAN (256u << 10)	/* bytes that one search goes through */
#define PD_RESYNC_CREDIT (16u << 20)	/* the most that can be saved up; see pd_resync_earn() */
#define PD_RESYNC_RATE 16		/* credit for each byte of input */

/* What is known of the records before. */
struct pd_resync {
	struct pd_session *session;
	uint64_t time;		/* of a sample not long ago; 0: none was seen */
	uint64_t credit;	/* bytes that may still be examined; see pd_resync_earn() */
};

struct pd_resync_at {
	enum pd_resync_result {
		PD_RESYNC_FOUND,	/* a record begins at `at` */
		PD_RESYNC_MORE,		/* one may, and `want` bytes from the start of the span will tell */
		PD_RESYNC_NONE,		/* none begins before `at` */
	} result;
	size_t at, want;
};

enum pd_resync_end {
	PD_RESYNC_OPEN,		/* more bytes may follow */
	PD_RESYNC_CLOSED,	/* no record goes on behind the span */
};

static inline void pd_resync_init(struct pd_resync *r, struct pd_session *session)
{
	*r = (struct pd_resync){ .session = session, .credit = PD_RESYNC_CREDIT };
}

/*
 * The input up to `offset` was read: each byte of it, counted once in *earned, allows PD_RESYNC_RATE bytes to be examined. All
 * functions below charge what they examine, so that the whole search takes linear time, whatever the input. Without credit they
 * find and trust nothing, and the reader goes on with the sizes that the headers state.
 */
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

/* Takes `n` from the credit. False, and nothing is left: there was less. */
static inline bool pd_resync_charge(struct pd_resync *r, uint64_t n)
{
	const bool is_enough = n <= r->credit;

	r->credit = is_enough ? r->credit - n : 0;
	return is_enough;
}

/*
 * Where in in[from ...] does a chain of records begin that can be trusted: types are known, sizes fit their layouts, events are
 * known by their ids, times are near those before? Only records in a row, or one that is beyond doubt, count; of those that lie
 * in each other the latest.
 * At multiples of 8 from the start first, then anywhere.
 */
struct pd_resync_at pd_resync_find(struct pd_resync *r, struct pd_bytes in, size_t from, enum pd_resync_end end);

/* Are these times those of one recording? */
bool pd_resync_is_near(uint64_t a, uint64_t b);

/* Is the record that fills `bytes` beyond doubt: its event, its time and every field? */
bool pd_resync_is_trusted(struct pd_resync *r, struct pd_bytes bytes);

/* The same of one that is prepared and filled. */
struct pd_record;
bool pd_resync_trusts(struct pd_resync *r, const struct pd_record *record);

/* Can an event's samples be trusted that are filled by their fields, and near in time to the sample before? Then it is found by
 * the event's id, if there are several. */
bool pd_resync_trusts_samples(const struct pd_resync *r, const struct pd_attr *a);

/* Do fields fill all of the record that is in[0 ... size), and does a chain of records, or the end, follow? */
bool pd_resync_leads_chain(struct pd_resync *r, struct pd_bytes in, size_t size, enum pd_resync_end end);

/* Is the size nothing to look twice at? */
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

/* Could a record's header say this? */
static inline bool pd_resync_may_begin(uint32_t type, size_t size, const struct pd_record_desc *desc)
{
	return desc && size >= PD_RECORD_HEADER_SIZE && (type >= PD_RECORD_USER_START || size % 8 == 0);
}

#endif
