/* stream_payload.c - the data after a record that its size does not include. */
#include "stream/stream_internal.h"

#define DOUBTFUL_PAYLOAD (64u << 20)	/* of this size or more: AUX areas are smaller */

/* Returns 1 if the stream ends in the payload of tracing data, which are read whole anyway; 0 if it
 * does not, or that is not known; -1 and *e on failure. */
static int ends_in_tracing_data(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
{
	const uint64_t size = f->bytes.size + f->payload;
	struct pd_bytes have;

	if (f->type != PD_RECORD_HEADER_TRACING_DATA || size > PD_PEEK_MAX)
		return 0;
	return pd_stream_peek(s, (size_t)size, &have, e) ? -1 : have.size < size;
}

/* Returns 1 if the payload cannot be there because its size, or that of its record, is damaged; 0
 * if it can; -1 and *e on failure. The end of a stream is not known: only large payloads and
 * tracing data are doubted, and records are looked for at their beginning. */
static int payload_is_lost(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
{
	uint64_t got, end = s->end, size;
	struct pd_bytes have;
	int lost = 0;

	if (!pd_source_is_random(s->source)) {
		const int is_doubtful = f->payload >= DOUBTFUL_PAYLOAD ?
			1 : ends_in_tracing_data(s, f, e);

		if (is_doubtful <= 0)
			return is_doubtful;
		return pd_stream_search_after(s, f->bytes.size, e) ? -1 : s->lost.found;
	}
	if (pd_source_size(s->source, &size) && size < end)
		end = size;
	if (f->offset + f->bytes.size >= end || f->payload <= end - f->offset - f->bytes.size)
		return 0;
	/* It is lost only if records follow: in a truncated file a payload may be cut short.
	 * Everything visible at first is read with the record, so that returning to the record does
	 * not read it again. */
	if (pd_stream_peek(s, PD_PEEK_MAX, &have, e) ||
	    pd_source_skip(s->source, f->bytes.size, &got, e))
		return -1;
	for (;;) {
		const uint64_t at = pd_source_offset(s->source);

		if (pd_stream_peek(s, PD_SEARCH_PEEK, &have, e) || pd_stream_search(s, e))
			return -1;
		lost = s->lost.found;
		if (!lost && pd_stream_zeros_from(s, at))
			break;
		if (lost || pd_stream_is_last(s, have, PD_SEARCH_PEEK) || s->lost.searched_to <= at)
			break;
		if (pd_source_skip(s->source, s->lost.searched_to - at, &got, e))
			return -1;
	}
	if (lost)	/* all of it was searched */
		s->lost.searched_from = f->offset + f->bytes.size;
	return pd_source_seek(s->source, f->offset, e) ? -1 : lost;
}

/* A record that is fed comes with its payload, unless that would take much of the memory: it is
 * then read in pieces, as it is fed. Tracing data is needed whole. */
static int await_payload(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
{
	if (f->payload > s->session->budget->limit / 4 &&
	    f->type != PD_RECORD_HEADER_TRACING_DATA)
		return 0;
	return pd_source_await(s->source, f->bytes.size + f->payload, e);
}

int pd_stream_find_payload(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const uint64_t after = f->offset + f->bytes.size;
	const int lost = f->payload ? payload_is_lost(s, f, e) : 0;
	struct pd_bytes have;

	if (lost < 0)
		return -1;
	if (f->payload) {	/* the search may have moved the window */
		if (await_payload(s, f, e) || pd_stream_peek(s, f->bytes.size, &have, e))
			return -1;
		f->bytes.data = have.data;
	}
	if (lost) {
		pd_lost_begin(&s->lost, f, after, PD_E_PAYLOAD, f->payload,
			      s->lost.searched_to - after);
		s->lost.bad_at = UINT64_MAX;	/* a record may follow directly */
		f->payload = 0;
		f->payload_lost = true;
	}
	s->payload_left = f->payload;
	if (f->payload > s->end - after) {	/* the payload ends with the data section */
		s->payload_left = s->end - after;
		s->payload_missing = f->payload - s->payload_left;
	}
	s->payload_of = f->desc ? f->desc->name : NULL;
	return 0;
}

int pd_stream_payload(struct pd_stream *s, size_t n, struct pd_bytes *out, struct pd_error *e)
{
	uint64_t got;

	*out = (struct pd_bytes){ NULL, 0 };
	s->peeked.size = 0;
	pd_stream_save_sample(s);
	if (s->pending) {
		if (pd_source_skip(s->source, s->pending, &got, e))
			return -1;
		s->pending = 0;
	}
	if (n > s->payload_left)
		n = (size_t)s->payload_left;
	if (!n)
		return 0;
	if (n > PD_PEEK_MAX)
		n = PD_PEEK_MAX;
	if (pd_source_peek(s->source, n, out, e))
		return -1;
	if (out->size > n)
		out->size = n;
	s->payload_left -= out->size;
	s->pending = out->size;
	return (int)out->size;
}
