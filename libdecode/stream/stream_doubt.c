/* stream_doubt.c - whether bytes that look like a record are one: a damaged header may be
 * possible, and only the records after it and inside it show that it is damaged. */
#include "stream/stream_internal.h"

#define HEADER PD_RECORD_HEADER_SIZE

bool pd_stream_is_sound(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have,
			uint64_t size)
{
	struct pd_record_header next;

	if (have.size < size + HEADER || !pd_resync_may_begin(f->type, (size_t)size, f->desc) ||
	    !pd_stream_is_usual(s, f, size))
		return false;
	next = pd_record_header_load(have.data + size, s->session->swap);
	return f->offset + size < s->lost.followed_to ||
	       pd_resync_may_begin(next.type, next.size, pd_record_desc(next.type));
}

enum believed {
	NOT_BELIEVED,
	DOUBTED,	/* is a record unless records are found inside it */
	UNDECIDED,	/* more bytes tell */
	BELIEVED,
};

/* Returns whether the bytes after the whole record at the start of `have` confirm it. Addresses
 * that are read as headers may form long chains. */
static enum believed is_followed(struct pd_stream *s, const struct pd_frame *f,
				 struct pd_bytes have, uint64_t size, bool closed)
{
	const bool may_grow = !closed && have.size < PD_PEEK_MAX;
	const uint64_t followed_to = s->lost.followed_to;
	enum pd_resync_result chain = PD_RESYNC_NONE;
	enum pd_leads leads;

	if (!f->desc && f->type >= PD_IMPLAUSIBLE_TYPE)
		return NOT_BELIEVED;
	if (f->desc)
		chain = pd_resync_leads_chain(&s->resync, have, (size_t)size,
					      closed ? PD_RESYNC_CLOSED : PD_RESYNC_OPEN);
	if (chain == PD_RESYNC_FOUND)
		return BELIEVED;
	if (f->desc && !pd_resync_may_begin(f->type, (size_t)size, f->desc))
		return NOT_BELIEVED;
	if (chain == PD_RESYNC_MORE && may_grow)
		return UNDECIDED;
	leads = pd_stream_leads_on(s, &s->lost, have, f->offset, size, closed);
	if (leads == PD_LEADS_NOWHERE || (f->desc && !pd_stream_is_usual(s, f, size)))
		return NOT_BELIEVED;
	if (leads == PD_LEADS_OUT_OF_SIGHT && may_grow) {
		s->lost.followed_to = followed_to;
		return UNDECIDED;
	}
	return leads == PD_LEADS_OUT_OF_SIGHT && !f->desc && f->type >= PD_DOUBTFUL_TYPE ?
		       DOUBTED :
		       BELIEVED;
}

/* Finds out whether the bytes after the whole record confirm it. Reads no more of a stream than
 * that needs: the result does not depend on how much is visible. Returns 0, or -1 and *e. */
static int follow_record(struct pd_stream *s, const struct pd_frame *f, uint64_t size,
			 enum believed *believed, struct pd_error *e)
{
	const bool all_at_once = pd_source_is_random(s->source) &&
				 (f->desc || f->offset + size >= s->lost.followed_to);
	size_t ask = all_at_once ? PD_PEEK_MAX : (size_t)size + HEADER;
	struct pd_bytes have;

	for (;; ask = 2 * ask < PD_PEEK_MAX ? 2 * ask : PD_PEEK_MAX) {
		if (pd_stream_peek(s, ask, &have, e))
			return -1;
		if (have.size > ask)
			have.size = ask;
		*believed = is_followed(s, f, have, size, pd_stream_is_last(s, have, ask));
		if (*believed != UNDECIDED)
			return 0;
	}
}

bool pd_stream_is_credible(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have,
			   uint64_t size)
{
	const struct pd_bytes record = { have.data, (size_t)size };

	if (!f->desc || size == HEADER)
		return f->desc;
	return pd_resync_is_trusted(&s->resync, record) ||
	       (pd_stream_is_usual(s, f, size) && pd_resync_is_credible(&s->resync, record));
}

int pd_stream_is_lost(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have,
		      uint64_t size, struct pd_error *e)
{
	const bool whole = have.size >= size;
	enum believed believed = NOT_BELIEVED;
	struct pd_lost *l = &s->lost;

	pd_lost_prepare_search(s, l, f->offset);
	if (whole && pd_stream_is_credible(s, f, have, size))
		return 0;
	if (whole && follow_record(s, f, size, &believed, e))
		return -1;
	if (believed == BELIEVED)
		return 0;
	l->bad_at = f->offset;
	if (pd_stream_search(s, e))
		return -1;
	if (l->found && whole &&
	    (pd_stream_peek(s, size + HEADER, &have, e) ||
	     pd_stream_peek(s, pd_lost_size_with_next(s, have, size), &have, e)))
		return -1;
	if (l->found)
		return !f->desc || (l->searched_to < f->offset + size &&
				    !pd_lost_are_old_bytes(s, have, size,
							   l->searched_to - f->offset));
	return believed != DOUBTED && !f->desc && (f->type >= PD_IMPLAUSIBLE_TYPE || whole);
}

int pd_stream_find_appended(struct pd_stream *s, const struct pd_frame *f, uint64_t size,
			    size_t *at, struct pd_error *e)
{
	const bool is_random = pd_source_is_random(s->source);
	const size_t most = (size_t)size + (is_random ? PD_MAGIC_SIZE : 0);
	struct pd_record_header next;
	struct pd_bytes have;

	*at = 0;
	if (!f->offset)
		return 0;
	if (pd_stream_peek(s, most, &have, e))
		return -1;
	if (have.size > most)
		have.size = most;
	if (is_random && have.size >= size + HEADER) {
		next = pd_record_header_load(have.data + size, s->session->swap);
		if (pd_resync_may_begin(next.type, next.size, pd_record_desc(next.type)))
			return 0;
	} else if (is_random && have.size >= size) {
		return 0;	/* the records end after it */
	}
	*at = pd_lost_find_recording(have);
	if (*at >= size)
		*at = 0;
	if (!*at)
		return 0;
	pd_lost_prepare_search(s, &s->lost, f->offset);
	s->lost.bad_at = f->offset;
	if (pd_stream_search(s, e))
		return -1;
	if (s->lost.found && s->lost.searched_to < f->offset + *at)
		*at = 0;
	return 0;
}
