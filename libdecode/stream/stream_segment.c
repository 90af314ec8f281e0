/* stream_segment.c - reads from the middle of a file, and adopts what was read so: see
 * segment.h. */
#include "stream/segment.h"
#include "stream/stream_internal.h"

#define FIND_IN (192u << 10)	/* two records of maximum size, and the bytes needed to trust the
				 * second */
#define FIND_TRIES 16

void pd_sample_head_of(struct pd_sample_head *h, struct pd_bytes sample)
{
	h->size = sample.size < PD_SAMPLE_HEAD ? (uint16_t)sample.size : PD_SAMPLE_HEAD;
	if (h->size)
		memcpy(h->bytes, sample.data, h->size);
}

bool pd_stream_position(const struct pd_stream *s, uint64_t *offset)
{
	*offset = pd_source_offset(s->source) + s->pending;
	return pd_source_is_random(s->source) && !s->expanding && !s->lost.open &&
	       !s->payload_left && !s->payload_missing && !s->ended;
}

void pd_stream_last_sample(struct pd_stream *s, struct pd_sample_head *h)
{
	pd_stream_save_sample(s);
	pd_sample_head_of(h, (struct pd_bytes){ s->sample, s->sample_size });
}

static void set_last_sample(struct pd_stream *s, const struct pd_sample_head *h)
{
	s->last_sample.size = 0;
	s->sample_size = h->size;
	memcpy(s->sample, h->bytes, h->size);
}

/* Returns whether a record at peeked[at] leads to others, up to where any record must end that it
 * might be inside of. */
static bool is_followed_by_chain(const struct pd_stream *s, size_t at)
{
	const enum pd_swap swap = s->session->swap;
	const size_t out = at + UINT16_MAX;

	while (at < out && at + PD_RECORD_HEADER_SIZE <= s->peeked.size) {
		const struct pd_record_header h = pd_record_header_load(s->peeked.data + at, swap);

		if (!pd_resync_may_begin(h.type, h.size, pd_record_desc(h.type)))
			return false;
		at += h.size;
	}
	return true;
}

/* Finds the first record that begins a chain and leads to others. */
static bool find_chain(struct pd_stream *s, size_t *at)
{
	*at = 0;
	for (unsigned int i = 0; i < FIND_TRIES; i++) {
		const struct pd_resync_at found =
			pd_resync_find(&s->resync, s->peeked, *at, PD_RESYNC_OPEN);

		if (found.result != PD_RESYNC_FOUND)
			return false;
		*at = found.at;
		if (is_followed_by_chain(s, found.at))
			return true;
		*at += 8;
	}
	return false;
}

bool pd_stream_find_segment(struct pd_stream *s, uint64_t from, const struct pd_sample_head *before)
{
	struct pd_error ignored;
	size_t at;

	s->pending = 0;
	s->peeked.size = 0;
	pd_resync_init(&s->resync, s->session);
	set_last_sample(s, before);
	if (pd_source_seek(s->source, from, &ignored) || from >= s->end ||
	    pd_source_peek(s->source, FIND_IN, &s->peeked, &ignored))
		return false;
	s->peeked_at = from;
	if (s->peeked.size > s->end - from)
		s->peeked.size = (size_t)(s->end - from);
	pd_lost_set_time(s);
	if (!find_chain(s, &at))
		return false;
	s->pending = at;
	return true;
}

/* The verification of a large sample depends on the time of the sample before it. Returns whether
 * the other stream's sample before the segment was as good as this stream's. */
static bool is_expected(struct pd_stream *s, const struct pd_sample_head *first)
{
	uint64_t time;

	if (!pd_lost_time_of(s, (struct pd_bytes){ first->bytes, first->size }, &time))
		return true;
	pd_lost_set_time(s);
	return !s->resync.time || pd_resync_is_near(s->resync.time, time);
}

bool pd_stream_adopt(struct pd_stream *s, const struct pd_segment *done)
{
	struct pd_error ignored;
	uint64_t at;

	if (!pd_stream_position(s, &at) || at != done->begin || done->end == done->begin ||
	    !is_expected(s, &done->first) || pd_source_seek(s->source, done->end, &ignored))
		return false;
	s->pending = 0;
	s->peeked.size = 0;
	if (done->last.size)
		set_last_sample(s, &done->last);
	return true;
}
