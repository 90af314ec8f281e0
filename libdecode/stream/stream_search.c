/* stream_search.c - looks at the bytes that follow in the source, and for records among them. */
#include "stream/stream_internal.h"

#define HEADER PD_RECORD_HEADER_SIZE
#define LOST_PEEK (PD_RESYNC_BLOCK + HEADER)	/* for pipes; more only if that decides nothing */

int pd_stream_peek(struct pd_stream *s, uint64_t ask, struct pd_bytes *have, struct pd_error *e)
{
	uint64_t room = s->end - pd_source_offset(s->source);

	pd_stream_save_sample(s);
	if (pd_source_peek(s->source, (size_t)(ask < room ? ask : room), have, e))
		return -1;
	if (have->size > room)
		have->size = (size_t)room;
	if (have->size > ask && pd_source_is_fed(s->source))
		have->size = (size_t)ask;	/* what is decided must not depend on the cuts */
	return 0;
}

bool pd_stream_is_last(const struct pd_stream *s, struct pd_bytes have, uint64_t asked)
{
	return have.size < asked || have.size == s->end - pd_source_offset(s->source);
}

/* Returns how many bytes to peek after `ask` bytes were searched: whole blocks and a header; 0 if
 * the search is done. */
static size_t more_to_search(const struct pd_resync_at *found, size_t ask)
{
	size_t more = 2 * ask;

	if (ask == PD_SEARCH_PEEK || found->result == PD_RESYNC_FOUND ||
	    (found->result == PD_RESYNC_NONE && found->at >= PD_RESYNC_SPAN))
		return 0;
	if (found->result == PD_RESYNC_MORE && found->want > more)
		more = found->want;
	more = more / PD_RESYNC_BLOCK * PD_RESYNC_BLOCK + LOST_PEEK;
	return more < PD_SEARCH_PEEK ? more : PD_SEARCH_PEEK;
}

int pd_stream_search_after(struct pd_stream *s, size_t skip, struct pd_error *e)
{
	const uint64_t at = pd_source_offset(s->source) + skip;
	struct pd_lost *l = &s->lost;
	size_t ask = pd_source_is_random(s->source) ? PD_SEARCH_PEEK : LOST_PEEK;
	size_t from = at == l->bad_at;
	struct pd_resync_at found;
	struct pd_bytes have;

	if (pd_lost_is_searched(s, l, at + (at == l->bad_at)))
		return 0;
	pd_lost_prepare_search(s, l, at);
	while (ask) {
		bool last;

		if (pd_stream_peek(s, skip + ask, &have, e))
			return -1;
		/* the result must not depend on the window's size */
		have.size = have.size < skip + ask ? have.size : skip + ask;
		last = pd_stream_is_last(s, have, skip + ask);
		have.data += skip;
		have.size -= skip < have.size ? skip : have.size;
		found = pd_resync_find(&s->resync, have, from,
				       last ? PD_RESYNC_CLOSED : PD_RESYNC_OPEN);
		if (last)
			break;
		if (found.at >= PD_RESYNC_BLOCK)
			from = found.at / PD_RESYNC_BLOCK * PD_RESYNC_BLOCK;
		ask = more_to_search(&found, ask);
	}
	pd_lost_set_searched(s, l, at, &found);
	return 0;
}

int pd_stream_search(struct pd_stream *s, struct pd_error *e)
{
	return pd_stream_search_after(s, 0, e);
}

uint64_t pd_stream_zeros_from(struct pd_stream *s, uint64_t at)
{
	uint64_t end;

	if (!pd_source_size(s->source, &end))
		return 0;
	if (end > s->end)
		end = s->end;
	if (at < s->zeros_at || at >= s->zeros_end) {
		s->zeros_at = at;
		s->zeros_end = pd_source_nonzero_from(s->source, at, end);
	}
	return s->zeros_end == end && end > at ? end - at : 0;
}
