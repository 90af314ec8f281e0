/* stream_inner.c - the records inside compressed ones. */
#include "file/stream_parts.h"

#define INNER_CHUNK (256 * 1024)
#define INNER_STEP (64 * 1024)	/* windows are larger by up to this, so that one serves again though a little more is left */
#define HEADER PD_RECORD_HEADER_SIZE

/* Decompresses until one more record may be whole. 1: more is there, 0: the payload is used up, -1 *e. */
static int expand(struct pd_stream *s, struct pd_error *e)
{
	const struct pd_bytes left = pd_stream_inner_left(s);
	int64_t n;

	pd_stream_save_sample(s);
	if (pd_windows_move(&s->inner, left.data, left.size, (left.size + INNER_CHUNK + INNER_STEP) & ~(size_t)(INNER_STEP - 1))) {
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_DAMAGED, .want = INNER_CHUNK };
		return -1;
	}
	s->inner_base += s->inner_at;
	s->inner_at = 0;
	s->inner_size = left.size;
	n = pd_codec_read(s->codec, s->inner.now->data + left.size, INNER_CHUNK, e);
	if (n <= 0)
		return (int)n;
	s->inner_size += (size_t)n;
	return 1;
}

struct pd_bytes pd_stream_inner_left(const struct pd_stream *s)
{
	return (struct pd_bytes){ s->inner.now ? s->inner.now->data + s->inner_at : NULL, s->inner_size - s->inner_at };
}

enum look_ahead { SEARCHED, NEED_MORE };

/* Sees to it that something is known of the bytes at inner_at. */
static enum look_ahead search_inner(struct pd_stream *s)
{
	const uint64_t at = s->inner_base + s->inner_at;
	struct pd_lost *l = &s->lost_inner;
	struct pd_resync_at found;

	if (pd_lost_is_searched(s, l, at + (at == l->bad)))
		return SEARCHED;
	if (at < l->awaited && s->inner_base + s->inner_size == l->known && !s->no_more_inner)
		return NEED_MORE;	/* not the same search again for each record before */
	pd_lost_set_time(s);
	found = pd_resync_find(&s->resync, pd_stream_inner_left(s), at == l->bad, s->no_more_inner ? PD_RESYNC_CLOSED : PD_RESYNC_OPEN);
	if (found.result == PD_RESYNC_MORE || (found.result == PD_RESYNC_NONE && !found.at)) {
		l->awaited = at + found.at;
		l->known = s->inner_base + s->inner_size;
		return NEED_MORE;
	}
	pd_lost_set_searched(s, l, at, &found);
	return SEARCHED;
}

/* A piece of lost bytes; PD_NEXT_END: more are needed to tell. */
static enum pd_next next_lost_inner(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const uint64_t at = s->inner_base + s->inner_at;
	struct pd_bytes bytes = pd_stream_inner_left(s);
	struct pd_lost *l = &s->lost_inner;
	bool last;

	if (search_inner(s) == NEED_MORE && !s->no_more_inner)
		return PD_NEXT_END;
	if (bytes.size > l->clear - at)
		bytes.size = (size_t)(l->clear - at);
	if (bytes.size > PD_LOST_PIECE)
		bytes.size = PD_LOST_PIECE;
	last = at + bytes.size == l->clear && (l->found || (s->no_more_inner && bytes.size == pd_stream_inner_left(s).size));
	s->inner_at += bytes.size;
	return pd_lost_piece(l, f, at, bytes, last, e);
}

/* Is the record at inner_at none, though its header could be one? */
static bool inner_is_lost(struct pd_stream *s, const struct pd_frame *f)
{
	const struct pd_bytes left = pd_stream_inner_left(s);
	const uint64_t at = s->inner_base + s->inner_at;
	struct pd_lost *l = &s->lost_inner;

	if (pd_resync_may_begin(f->type, f->size, f->desc) && pd_stream_leads_on(s, l, left, at, f->size, s->no_more_inner) &&
	    pd_stream_is_usual(s, f, f->size))
		return false;
	if (!f->desc && f->size <= left.size && pd_stream_leads_on(s, l, left, at, f->size, s->no_more_inner) && f->type < PD_IMPLAUSIBLE_TYPE)
		return false;
	pd_lost_set_time(s);
	if (f->size <= left.size && (pd_resync_is_trusted(&s->resync, (struct pd_bytes){ left.data, f->size }) ||
				     pd_resync_leads_chain(&s->resync, left, f->size, s->no_more_inner ? PD_RESYNC_CLOSED : PD_RESYNC_OPEN)))
		return false;
	l->bad = at;
	if (search_inner(s) == NEED_MORE)
		return false;
	return l->found ? l->clear < at + f->size || !f->desc : !f->desc;
}

/* The next record out of the compressed one that is being expanded; PD_NEXT_END when it is used up. */
enum pd_next pd_stream_next_inner(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	for (;;) {
		const struct pd_bytes left = pd_stream_inner_left(s);
		enum pd_next next = PD_NEXT_END;
		int more;

		*f = (struct pd_frame){ .offset = s->outer_offset, .inner_offset = s->inner_base + s->inner_at };
		if (s->lost_inner.open) {
			next = next_lost_inner(s, f, e);
		} else if (left.size >= HEADER) {
			const uint64_t at = f->inner_offset;

			pd_stream_read_header(s, left, f);
			f->offset = s->outer_offset;
			f->inner_offset = at;
			if (f->size < HEADER) {
				pd_lost_begin(&s->lost_inner, f, at, PD_E_SIZE, HEADER, f->size);
				continue;
			}
			if ((left.size >= f->size || s->no_more_inner) && inner_is_lost(s, f)) {
				pd_lost_begin(&s->lost_inner, f, at, f->desc ? PD_E_SIZE : PD_E_GARBAGE, f->size, left.size);
				continue;
			}
			if (left.size >= f->size) {
				f->bytes = (struct pd_bytes){ left.data, f->size };
				s->inner_at += f->size;
				pd_stream_keep_sample(s, f);
				return PD_NEXT_RECORD;
			}
		}
		if (next != PD_NEXT_END || s->no_more_inner)
			return next;
		more = expand(s, e);
		if (more < 0) {
			s->expanding = false;
			e->offset = s->outer_offset;
			e->record = "COMPRESSED";
			return PD_NEXT_DAMAGE;
		}
		if (more == 0)
			return PD_NEXT_END;
	}
}

int pd_stream_start_expanding(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
{
	struct pd_plan *plan = pd_session_body_plan(s->session, f->desc);
	const struct pd_op *op = plan ? pd_plan_find(plan, "data") : NULL;
	size_t at, size;

	if (!op || op->offset == PD_VARIABLE || f->bytes.size < HEADER + op->offset)
		return 0;
	if (!s->codec)
		s->codec = pd_codec_new(s->session->budget, e);
	if (!s->codec)
		return -1;
	at = HEADER + op->offset;
	size = f->bytes.size - at;
	if (op->offset) {	/* COMPRESSED2 says how much of the rest is no padding */
		struct pd_cursor c = pd_cursor(f->bytes, s->session->swap);
		uint64_t data_size = 0;

		if (pd_take(&c, HEADER) && pd_take_number(&c, 8, &data_size) && data_size < size)
			size = (size_t)data_size;
	}
	pd_codec_input(s->codec, (struct pd_bytes){ f->bytes.data + at, size });
	s->outer_offset = f->offset;
	s->expanding = true;
	return 0;
}
