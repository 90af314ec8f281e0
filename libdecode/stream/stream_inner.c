/* stream_inner.c - the records inside compressed ones. */
#include "stream/stream_internal.h"

#define INNER_CHUNK (256 * 1024)
#define INNER_STEP (64 * 1024)	/* windows are larger by up to this, so that one serves again though a little more is left */
#define QUICK_RATIO 64		/* so much of what comes out is only copied that zstd makes more than 10 GB/s */
#define HEADER PD_RECORD_HEADER_SIZE

static int no_memory(struct pd_error *e)
{
	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_DAMAGED, .want = INNER_CHUNK };
	return -1;
}

/* What is left goes to the start of a window, with room for n more bytes. */
static int move_left(struct pd_stream *s, size_t n, struct pd_error *e)
{
	const struct pd_bytes left = pd_stream_inner_left(s);

	if (pd_windows_move(&s->inner, left.data, left.size, (left.size + n + INNER_STEP) & ~(size_t)(INNER_STEP - 1)))
		return no_memory(e);
	s->inner_base += s->inner_at;
	s->inner_at = 0;
	s->inner_size = left.size;
	return 0;
}

static int expand_here(struct pd_stream *s, struct pd_error *e)
{
	int64_t n;

	if (move_left(s, INNER_CHUNK, e))
		return -1;
	n = pd_zstd_stream_read(s->zstd, s->inner.now->data + s->inner_size, INNER_CHUNK, e);
	if (n <= 0)
		return (int)n;
	s->inner_size += (size_t)n;
	return 1;
}

/* What is left goes in front of the piece, in its window. */
static void join(struct pd_stream *s, const struct pd_piece *p)
{
	const struct pd_bytes left = pd_stream_inner_left(s);
	const size_t at = PD_PIECE_FRONT - left.size;

	if (left.data)
		memcpy(p->window->data + at, left.data, left.size);
	s->inner_base += s->inner_at - at;
	s->inner_at = at;
	s->inner_size = PD_PIECE_FRONT + p->size;
	pd_windows_use(&s->inner, p->window);
}

/* More is left than there is room for: while it is not known what damaged bytes are. */
static int append(struct pd_stream *s, const struct pd_piece *p, struct pd_error *e)
{
	const int failed = move_left(s, p->size, e);

	if (!failed)
		memcpy(s->inner.now->data + s->inner_size, p->window->data + PD_PIECE_FRONT, p->size);
	s->inner_size += failed ? 0 : p->size;
	pd_window_release(p->window);
	return failed;
}

static int expand_ahead(struct pd_stream *s, struct pd_error *e)
{
	struct pd_piece p;

	if (pd_decompress_thread_next(s->ahead, &p))
		return no_memory(e);
	if (!p.size) {
		*e = p.error;
		return p.result;
	}
	if (s->inner_size - s->inner_at > PD_PIECE_FRONT)
		return append(s, &p, e) ? -1 : 1;
	join(s, &p);
	return 1;
}

/* Decompresses until one more record may be whole. 1: more is there, 0: the payload is used up, -1 *e. */
static int expand(struct pd_stream *s, struct pd_error *e)
{
	const uint64_t made = s->inner_base + s->inner_size, read = pd_source_input_size(s->source);

	if (!pd_budget_may_expand(s->session->budget, made, read)) {
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_DAMAGED, .want = made, .have = read,
					.text = "they expand to more than is allowed (--max-output): the rest is left out" };
		s->is_expanded_enough = true;
		return -1;
	}
	pd_stream_save_sample(s);
	return s->ahead ? expand_ahead(s, e) : expand_here(s, e);
}

struct pd_bytes pd_stream_inner_left(const struct pd_stream *s)
{
	return (struct pd_bytes){ s->inner.now ? s->inner.now->data + s->inner_at : NULL, s->inner_size - s->inner_at };
}

/* Does anything follow what is left? */
static enum pd_resync_end is_closed(const struct pd_stream *s)
{
	return s->no_more_inner ? PD_RESYNC_CLOSED : PD_RESYNC_OPEN;
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
	pd_lost_prepare_search(s, l, at);
	found = pd_resync_find(&s->resync, pd_stream_inner_left(s), at == l->bad, is_closed(s));
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
	if (!f->desc && f->size <= left.size && f->type < PD_IMPLAUSIBLE_TYPE &&
	    pd_stream_leads_on(s, l, left, at, f->size, s->no_more_inner))
		return false;
	pd_lost_prepare_search(s, l, at);
	if (f->size <= left.size && (pd_resync_is_trusted(&s->resync, (struct pd_bytes){ left.data, f->size }) ||
				     pd_resync_leads_chain(&s->resync, left, f->size, is_closed(s))))
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
			s->unexpanded += s->outer_size;
			s->outer_size = 0;
			e->offset = s->outer_offset;
			e->record = "COMPRESSED";
			return PD_NEXT_DAMAGE;
		}
		if (more == 0)
			return PD_NEXT_END;
	}
}

/* Of a compressed record; NULL: it has none. */
static struct pd_bytes payload_of(struct pd_stream *s, const struct pd_record_desc *desc, struct pd_bytes record)
{
	struct pd_plan *plan = pd_session_body_plan(s->session, desc);
	const struct pd_op *op = plan ? pd_plan_find(plan, "data") : NULL;
	size_t at, size;

	if (!op || op->offset == PD_VARIABLE || record.size < HEADER + op->offset)
		return (struct pd_bytes){ NULL, 0 };
	at = HEADER + op->offset;
	size = record.size - at;
	if (op->offset) {	/* COMPRESSED2 says how much of the rest is no padding */
		struct pd_cursor c = pd_cursor(record, s->session->swap);
		uint64_t data_size = 0;

		if (pd_take(&c, HEADER) && pd_take_number(&c, 8, &data_size) && data_size < size)
			size = (size_t)data_size;
	}
	return (struct pd_bytes){ record.data + at, size };
}

static void tell(struct pd_stream *s, const struct pd_frame *f)
{
	const struct pd_bytes payload = payload_of(s, f->desc, f->bytes);

	if (payload.data)
		pd_decompress_thread_add(s->ahead, &(struct pd_payload){ f->offset, payload, pd_source_pin(s->source) });
	s->queued_to = f->offset + f->bytes.size;
}

/* Tells the thread of f, if it does not know of it yet, and of the compressed records that follow in `have`: of those that the
 * stream will come to beyond doubt. */
static void tell_ahead(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have)
{
	struct pd_frame next;

	if (s->queued_to <= f->offset)
		tell(s, f);
	while (pd_decompress_thread_has_room(s->ahead)) {
		const uint64_t at = s->queued_to - f->offset;
		uint64_t size;

		if (have.size < at + 2 * HEADER)
			return;
		next.bytes = (struct pd_bytes){ have.data + at, have.size - (size_t)at };
		pd_stream_read_header(s, next.bytes, &next);
		next.offset = s->queued_to;
		next.bytes = (struct pd_bytes){ have.data + at, have.size - (size_t)at };
		size = pd_stream_real_size(s, &next, next.bytes);
		if (size < HEADER || !pd_stream_is_sound(s, &next, next.bytes, size) || next.desc->payload)
			return;
		next.bytes.size = (size_t)size;
		if (next.desc->compressed)
			tell(s, &next);
		else
			s->queued_to += size;
	}
}

/* What decompresses: a thread where there may be one, and it takes longer than handing over what it makes. */
static int start_zstd(struct pd_stream *s, struct pd_error *e)
{
	if (s->ahead || s->zstd)
		return 0;
	if (s->threads > 1 && s->session->compression_ratio < QUICK_RATIO)
		s->ahead = pd_decompress_thread_new(&s->inner, INNER_CHUNK);
	if (!s->ahead)
		s->zstd = pd_zstd_stream_new(s->session->budget, e);
	return s->ahead || s->zstd ? 0 : -1;
}

int pd_stream_start_expanding(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have, struct pd_error *e)
{
	const struct pd_bytes payload = payload_of(s, f->desc, f->bytes);

	if (!payload.data || s->is_expanded_enough)
		return 0;
	if (start_zstd(s, e))
		return -1;
	if (s->ahead)
		tell_ahead(s, f, have);
	else
		pd_zstd_stream_input(s->zstd, payload);
	s->outer_offset = f->offset;
	s->outer_size = f->bytes.size;
	s->expanding = true;
	return 0;
}
