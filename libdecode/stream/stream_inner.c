/* stream_inner.c - frames the records inside compressed ones. */
#include "stream/stream_internal.h"

#define INNER_CHUNK (256 * 1024)
#define INNER_STEP (64 * 1024)	/* window sizes are rounded up to this, so that one can be reused
				 * for a little more */
#define HEADER PD_RECORD_HEADER_SIZE

static int no_memory(struct pd_error *e)
{
	*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_DAMAGED, .want = INNER_CHUNK };
	return -1;
}

/* Moves the unframed bytes to the start of a window that has room for n more. */
static int move_left(struct pd_stream *s, size_t n, struct pd_error *e)
{
	const struct pd_bytes left = pd_stream_inner_left(s);

	if (pd_windows_move(&s->inner, left.data, left.size,
			    (left.size + n + INNER_STEP) & ~(size_t)(INNER_STEP - 1)))
		return no_memory(e);
	s->inner_base += s->inner_at;
	s->inner_at = 0;
	s->inner_size = left.size;
	return 0;
}

static int expand_more(struct pd_stream *s, struct pd_error *e)
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

/* Decompresses some more. Returns 1, 0 if the payload is used up, or -1 and *e. */
static int expand_input(struct pd_stream *s, struct pd_error *e)
{
	const uint64_t made = s->inner_base + s->inner_size, read = pd_source_input_size(s->source);

	if (!pd_budget_may_expand(s->session->budget, made, read)) {
		*e = (struct pd_error){ .code = PD_E_LIMIT,
					.severity = PD_DAMAGED,
					.want = made,
					.have = read,
					.text = "expands to more than the limit (--max-output): "
						"the rest is left out" };
		s->is_expanded_enough = true;
		return -1;
	}
	pd_stream_save_sample(s);
	return expand_more(s, e);
}

struct pd_bytes pd_stream_inner_left(const struct pd_stream *s)
{
	return (struct pd_bytes){ s->inner.now ? s->inner.now->data + s->inner_at : NULL,
				  s->inner_size - s->inner_at };
}

/* Returns whether bytes may follow those that are left. */
static enum pd_resync_end end_of_inner(const struct pd_stream *s)
{
	return s->no_more_inner ? PD_RESYNC_CLOSED : PD_RESYNC_OPEN;
}

enum search_state { SEARCHED, NEED_MORE };

/* Searches for a record at inner_at, unless that is done already. */
static enum search_state search_inner(struct pd_stream *s)
{
	const uint64_t at = s->inner_base + s->inner_at;
	struct pd_lost *l = &s->lost_inner;
	struct pd_resync_at found;

	if (pd_lost_is_searched(s, l, at + (at == l->bad_at)))
		return SEARCHED;
	if (at < l->undecided_at && s->inner_base + s->inner_size == l->undecided_with &&
	    !s->no_more_inner)
		return NEED_MORE;	/* do not repeat the search for each record before */
	pd_lost_prepare_search(s, l, at);
	found = pd_resync_find(&s->resync, pd_stream_inner_left(s), at == l->bad_at,
			       end_of_inner(s));
	if (found.result == PD_RESYNC_MORE || (found.result == PD_RESYNC_NONE && !found.at)) {
		l->undecided_at = at + found.at;
		l->undecided_with = s->inner_base + s->inner_size;
		return NEED_MORE;
	}
	pd_lost_set_searched(s, l, at, &found);
	return SEARCHED;
}

/* Returns a piece of the lost bytes, or PD_NEXT_END if more input is needed to decide. */
static enum pd_next next_lost_inner(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const uint64_t at = s->inner_base + s->inner_at;
	struct pd_bytes bytes = pd_stream_inner_left(s);
	struct pd_lost *l = &s->lost_inner;
	bool last;

	if (search_inner(s) == NEED_MORE && !s->no_more_inner)
		return PD_NEXT_END;
	if (bytes.size > l->searched_to - at)
		bytes.size = (size_t)(l->searched_to - at);
	if (bytes.size > PD_LOST_PIECE)
		bytes.size = PD_LOST_PIECE;
	last = at + bytes.size == l->searched_to &&
	       (l->found || (s->no_more_inner && bytes.size == pd_stream_inner_left(s).size));
	s->inner_at += bytes.size;
	return pd_lost_piece(l, f, at, bytes, last, e);
}

enum lost { IS_RECORD, IS_LOST, IS_UNDECIDED };

/* Finds out whether records inside the whole one at inner_at show that its size is damaged. */
static enum lost doubt_inner(struct pd_stream *s, struct pd_bytes left, uint64_t size,
			     uint64_t found_at)
{
	if (left.size < pd_lost_size_with_next(s, left, size) && !s->no_more_inner)
		return IS_UNDECIDED;
	return pd_lost_are_old_bytes(s, left, size, found_at) ? IS_RECORD : IS_LOST;
}

/* Finds out whether what is at inner_at is not a record, although its header is possible. */
static enum lost inner_is_lost(struct pd_stream *s, const struct pd_frame *f)
{
	const struct pd_bytes left = pd_stream_inner_left(s);
	const uint64_t at = s->inner_base + s->inner_at;
	struct pd_lost *l = &s->lost_inner;

	if (pd_resync_may_begin(f->type, f->size, f->desc) &&
	    pd_stream_leads_on(s, l, left, at, f->size, s->no_more_inner) &&
	    pd_stream_is_usual(s, f, f->size))
		return IS_RECORD;
	if (!f->desc && f->size <= left.size && f->type < PD_IMPLAUSIBLE_TYPE &&
	    pd_stream_leads_on(s, l, left, at, f->size, s->no_more_inner))
		return IS_RECORD;
	pd_lost_prepare_search(s, l, at);
	if (f->size <= left.size &&
	    (pd_resync_is_trusted(&s->resync, (struct pd_bytes){ left.data, f->size }) ||
	     pd_resync_leads_chain(&s->resync, left, f->size, end_of_inner(s)) ==
		     PD_RESYNC_FOUND))
		return IS_RECORD;
	l->bad_at = at;
	if (search_inner(s) == NEED_MORE)
		return IS_RECORD;
	if (!f->desc)
		return IS_LOST;
	return l->found && l->searched_to < at + f->size ?
		       doubt_inner(s, left, f->size, l->searched_to - at) :
		       IS_RECORD;
}

/* Reports a record whose frame has no end. */
static enum pd_next cut_frame(struct pd_stream *s, struct pd_error *e)
{
	*e = (struct pd_error){ .code = PD_E_CODEC, .severity = PD_DAMAGED, .field = "zstd",
				.offset = s->cut_frame_at, .record = "COMPRESSED" };
	s->cut_frame_at = UINT64_MAX;
	return PD_NEXT_DAMAGE;
}

/* Notes whether the record that is used up has led to any bytes. If it has not, the next one must:
 * recorders flush zstd for each record, but a block may be larger than one. */
static void note_expanded(struct pd_stream *s)
{
	if (s->inner_base + s->inner_size != s->expanded_before)
		s->barren = 0;
	else if (s->outer_size && !s->barren++)
		s->barren_at = s->outer_offset;
}

enum pd_next pd_stream_end_inner(struct pd_stream *s, struct pd_error *e)
{
	if (!s->barren)
		return PD_NEXT_END;
	s->barren = 0;
	*e = (struct pd_error){ .code = PD_E_CODEC, .severity = PD_DAMAGED, .field = "zstd",
				.offset = s->barren_at, .record = "COMPRESSED" };
	return PD_NEXT_DAMAGE;
}

enum pd_next pd_stream_next_inner(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	if (s->cut_frame_at != UINT64_MAX)
		return cut_frame(s, e);
	for (;;) {
		const struct pd_bytes left = pd_stream_inner_left(s);
		enum pd_next next = PD_NEXT_END;
		enum lost lost = IS_UNDECIDED;
		int more;

		*f = (struct pd_frame){ .offset = s->outer_offset,
			.inner_offset = s->inner_base + s->inner_at };
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
			if (left.size >= f->size || s->no_more_inner)
				lost = inner_is_lost(s, f);
			if (lost == IS_LOST) {
				pd_lost_begin(&s->lost_inner, f, at,
					      f->desc ? PD_E_SIZE : PD_E_GARBAGE, f->size,
					      left.size);
				continue;
			}
			if (lost == IS_RECORD && left.size >= f->size) {
				f->bytes = (struct pd_bytes){ left.data, f->size };
				s->inner_at += f->size;
				pd_stream_keep_sample(s, f);
				return PD_NEXT_RECORD;
			}
		}
		if (next != PD_NEXT_END || s->no_more_inner)
			return next;
		more = expand_input(s, e);
		if (more < 0) {
			s->expanding = false;
			s->unexpanded += s->outer_size;
			s->outer_size = 0;
			e->offset = s->outer_offset;
			e->record = "COMPRESSED";
			return PD_NEXT_DAMAGE;
		}
		if (more == 0) {
			note_expanded(s);
			return PD_NEXT_END;
		}
	}
}

/* See stream_internal.h. The size of a COMPRESSED2 record of perf 6.16 wraps if it does not fit the
 * header's 16 bits. */
uint64_t pd_stream_real_size(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have)
{
	struct pd_cursor c = pd_cursor(have, s->session->swap);
	uint64_t data_size;

	if (f->type != PD_RECORD_COMPRESSED2 || !pd_take(&c, HEADER) ||
	    !pd_take_number(&c, 8, &data_size))
		return f->size;
	if (data_size > PD_PEEK_MAX - 64 || ((2 * HEADER + data_size + 7) & ~7ull) <= f->size)
		return f->size;
	if (((2 * HEADER + data_size + 7) & 0xffff & ~7ull) != (f->size & ~7u))
		return f->size;
	return 2 * HEADER + data_size;
}

/* Returns the compressed data of a record; data is NULL if it has none. */
static struct pd_bytes payload_of(struct pd_stream *s, const struct pd_record_desc *desc,
				  struct pd_bytes record)
{
	struct pd_plan *plan = pd_session_body_plan(s->session, desc);
	const struct pd_op *op = plan ? pd_plan_find(plan, "data") : NULL;
	size_t at, size;

	if (!op || op->offset == PD_VARIABLE || record.size < HEADER + op->offset)
		return (struct pd_bytes){ NULL, 0 };
	at = HEADER + op->offset;
	size = record.size - at;
	if (op->offset) {	/* COMPRESSED2 states how many of the bytes are not padding */
		struct pd_cursor c = pd_cursor(record, s->session->swap);
		uint64_t data_size = 0;

		if (pd_take(&c, HEADER) && pd_take_number(&c, 8, &data_size) && data_size < size)
			size = (size_t)data_size;
	}
	return (struct pd_bytes){ record.data + at, size };
}

int pd_stream_start_expanding(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
{
	const struct pd_bytes payload = payload_of(s, f->desc, f->bytes);

	if (!payload.data || s->is_expanded_enough)
		return 0;
	if (!s->zstd)
		s->zstd = pd_zstd_stream_new(s->session->budget, e);
	if (!s->zstd)
		return -1;
	if (pd_zstd_stream_give_up(s->zstd, payload)) {
		s->cut_frame_at = s->outer_offset;
		s->unexpanded += s->outer_size;
	}
	pd_zstd_stream_input(s->zstd, payload);
	s->outer_offset = f->offset;
	s->outer_size = f->bytes.size;
	s->expanded_before = s->inner_base + s->inner_size;
	s->expanding = true;
	return 0;
}
