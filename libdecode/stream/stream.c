/* stream.c - frames a source: cuts it into records. */
#include "input/magic.h"
#include "stream/stream_internal.h"
#include "stream/wrong_type.h"

#define HEADER PD_RECORD_HEADER_SIZE
#define BLOCK 4096	/* of a file system */

void pd_stream_init(struct pd_stream *s, struct pd_source *source, struct pd_session *session,
		    uint64_t end)
{
	uint64_t size;

	/* do not wait for bytes that are written meanwhile */
	if (pd_source_size(source, &size) && size < end)
		end = size;
	*s = (struct pd_stream){ .source = source,
				 .session = session,
				 .begin = pd_source_offset(source),
				 .end = end,
				 .cut_frame_at = UINT64_MAX,
				 .inner.budget = session->budget,
				 .lost.bad_at = UINT64_MAX,
				 .lost_inner.bad_at = UINT64_MAX };
	pd_resync_init(&s->resync, session);
}

void pd_stream_free(struct pd_stream *s)
{
	pd_zstd_stream_free(s->zstd);
	pd_windows_free(&s->inner);
	if (s->corrected)
		pd_budget_free(s->session->budget, s->corrected, PD_CORRECTED_MAX);
}

static enum pd_next fail_reading(struct pd_stream *s, struct pd_error *e)
{
	s->ended = !pd_is_pause(e->code);
	e->severity = s->ended ? PD_FATAL : PD_NOTE;
	return PD_NEXT_FAILED;
}

/* Returns whether the zeros up to the end of the records were never written. Space is allocated in
 * blocks; fewer zeros after other bytes may be what these end with. */
static bool is_unwritten(const struct pd_stream *s)
{
	const uint64_t end = pd_source_offset(s->source);

	if (s->zero_tail_end != end || s->zero_tail < HEADER)
		return false;
	return s->zero_tail >= BLOCK || s->zero_tail == end - s->lost.from;
}

/* Returns the first bytes of a decompressed record whose rest is missing. */
static enum pd_next end_of_records(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	enum pd_next next;
	struct pd_bytes left;

	s->no_more_inner = true;
	next = pd_stream_next_inner(s, f, e);
	if (next == PD_NEXT_END)
		next = pd_stream_end_inner(s, e);
	if (next != PD_NEXT_END)
		return next;
	s->ended = true;
	if (is_unwritten(s))
		s->unwritten = s->zero_tail;
	left = pd_stream_inner_left(s);
	if (!left.size)
		return PD_NEXT_END;
	pd_stream_read_header(s, left, f);
	f->offset = s->outer_offset;
	f->inner_offset = s->inner_base + s->inner_at;
	return pd_stream_damaged(f, PD_E_TRUNCATED, f->size, left, e);
}

/* Skips the last frame and its payload. */
static enum pd_next leave_last(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
{
	uint64_t got, want = s->pending + s->payload_left, missing = s->payload_missing;

	s->pending = s->payload_left = s->payload_missing = 0;
	s->peeked.size = 0;
	pd_stream_save_sample(s);
	if (pd_source_skip(s->source, want, &got, e)) {
		s->payload_left = want - got;	/* unless this is the end, it is continued */
		s->payload_missing = missing;
		return fail_reading(s, e);
	}
	if (got == want && !missing)
		return PD_NEXT_RECORD;
	if (__builtin_add_overflow(want, missing, &want))
		want = UINT64_MAX;
	*e = (struct pd_error){
		.code = PD_E_PAYLOAD, .severity = PD_DAMAGED, .record = s->payload_of,
		.offset = f->offset, .want = want, .have = got,
	};
	return PD_NEXT_DAMAGE;
}

/* Sets the error for lost bytes that are zeros up to the end of the records, at `end`. */
static void set_zeros_error(struct pd_lost *l, uint64_t end)
{
	l->error_at_end = (struct pd_error){
		.code = PD_E_GARBAGE, .severity = PD_DAMAGED, .offset = l->from,
		.want = end - l->from,
		.text = "zeros to the end: never written" };
}

/* Returns the rest of the records, which is zero, as one frame. */
static enum pd_next skip_zeros(struct pd_stream *s, struct pd_frame *f, uint64_t zeros,
			       struct pd_error *e)
{
	if (s->lost.from == f->offset)
		set_zeros_error(&s->lost, f->offset + zeros);
	f->zeros = s->pending = zeros;
	return pd_lost_piece(&s->lost, f, f->offset, (struct pd_bytes){ NULL, 0 }, true, e);
}

/* Returns a piece of the lost bytes. */
static enum pd_next next_lost(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const uint64_t at = pd_source_offset(s->source);
	struct pd_lost *l = &s->lost;
	const uint64_t zeros = pd_stream_zeros_from(s, at);
	struct pd_bytes have, piece;
	bool record_follows;
	size_t n;

	*f = (struct pd_frame){ .offset = at, .inner_offset = PD_OUTER };
	if (zeros)
		return skip_zeros(s, f, zeros, e);
	if (!l->is_appended && pd_stream_search(s, e))
		return fail_reading(s, e);
	n = PD_LOST_PIECE;
	if (!l->is_appended && l->searched_to - at < n)
		n = (size_t)(l->searched_to - at);
	if (pd_stream_peek(s, n + 1, &have, e))
		return fail_reading(s, e);
	s->pending = have.size < n ? have.size : n;
	piece = (struct pd_bytes){ have.data, (size_t)s->pending };
	record_follows = !l->is_appended && l->found && at + n == l->searched_to;
	l->only_zeros &= pd_all_zero(piece);
	/* the end of a stream is not known before */
	if (have.size <= n && !record_follows && l->only_zeros)
		set_zeros_error(l, at + piece.size);
	return pd_lost_piece(l, f, at, piece, record_follows || have.size <= n, e);
}

/* Returns the header of a recording that was appended to this one, as by cat(1), with all that
 * follows. The attributes of a second one in pipe mode follow its header, so both are read. */
static enum pd_next next_recording(struct pd_stream *s, struct pd_frame *f, struct pd_bytes header,
				   struct pd_error *e)
{
	const bool is_read = s->session->is_pipe && header.size >= PD_MAGIC_SIZE &&
		pd_load64(header.data + PD_MAGIC_TEXT, s->session->swap) == PD_MAGIC_SIZE;

	pd_lost_begin_recording(&s->lost, f, is_read);
	if (!is_read)
		return next_lost(s, f, e);
	s->pending = header.size = PD_MAGIC_SIZE;
	pd_session_begin_recording(s->session);
	return pd_lost_piece(&s->lost, f, f->offset, header, true, e);
}

/* Returns the number of bytes from f on; it must not depend on the window's size. */
static uint64_t bytes_from(struct pd_stream *s, const struct pd_frame *f, uint64_t size,
			   struct pd_bytes have)
{
	uint64_t end;

	if (!pd_source_size(s->source, &end))
		return have.size < size ? have.size : size;
	if (end > s->end)
		end = s->end;
	return end > f->offset ? end - f->offset : have.size;
}

static enum pd_next begin_lost(struct pd_stream *s, struct pd_frame *f, uint64_t size,
			       struct pd_bytes have, struct pd_error *e)
{
	pd_lost_begin(&s->lost, f, f->offset, f->desc ? PD_E_SIZE : PD_E_GARBAGE, size,
		      bytes_from(s, f, size, have));
	return next_lost(s, f, e);
}

/* Returns a record that the end of the records cuts short. A compressed one is expanded as far as
 * possible. */
static enum pd_next next_cut(struct pd_stream *s, struct pd_frame *f, uint64_t size,
			     struct pd_bytes have, struct pd_error *e)
{
	s->pending = have.size;
	if (f->desc && f->desc->compressed) {
		if (pd_stream_start_expanding(s, f, e))
			return fail_reading(s, e);
		s->unexpanded += have.size;
		s->outer_size = 0;
	}
	return pd_stream_damaged(f, PD_E_TRUNCATED, size,
				 (struct pd_bytes){ f->bytes.data, have.size }, e);
}

/* Sets the window of the fast path, which begins with the last record. */
static void set_peeked(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have)
{
	struct pd_error none;

	if (pd_source_is_fed(s->source))	/* all of it; these bytes are there */
		pd_source_peek(s->source, f->bytes.size, &have, &none);
	s->peeked = have;
	s->peeked_at = f->offset;
}

/* Ends the records before their end: the file has shrunk since it was opened. */
static enum pd_next end_too_soon(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const enum pd_next next = end_of_records(s, f, e);
	const uint64_t at = pd_source_offset(s->source);

	if (next != PD_NEXT_END || !pd_source_is_random(s->source))
		return next;
	*e = (struct pd_error){
		.code = PD_E_TRUNCATED, .severity = PD_DAMAGED, .offset = at, .want = s->end - at,
		.text = "the file has shrunk since it was opened",
	};
	return PD_NEXT_DAMAGE;
}

/* Peeks the record of `size` bytes, and the header after it if that is needed to tell whether it is
 * a record. A stream is waited for only where the record's bytes do not tell. */
static int peek_record(struct pd_stream *s, const struct pd_frame *f, uint64_t size,
		       struct pd_bytes *have, struct pd_error *e)
{
	struct pd_bytes seen;

	if (!pd_source_is_random(s->source) && f->desc) {
		if (pd_source_peek(s->source, (size_t)size, &seen, e) ||
		    pd_stream_peek(s, size, have, e))
			return -1;
		pd_lost_prepare_search(s, &s->lost, f->offset);
		if (seen.size < size ||
		    (seen.size < size + HEADER && pd_stream_is_credible(s, f, *have, size)))
			return 0;
	}
	return pd_stream_peek(s, size + HEADER, have, e);
}

/* Returns the part of a record before an appended recording. */
static enum pd_next next_before_appended(struct pd_stream *s, struct pd_frame *f, uint64_t size,
					 struct pd_bytes part, struct pd_error *e)
{
	f->bytes = part;
	if (part.size >= HEADER)
		return next_cut(s, f, size, part, e);
	s->pending = part.size;
	return pd_stream_damaged(f, PD_E_TRUNCATED, HEADER, part, e);
}

/* Frames what is not a record: its header states fewer bytes than it has itself. */
static enum pd_next frame_tiny(struct pd_stream *s, struct pd_frame *f, uint64_t size,
			       struct pd_error *e)
{
	struct pd_bytes have;
	size_t cut_at;

	if (pd_stream_find_appended(s, f, HEADER, &cut_at, e) ||
	    pd_stream_peek(s, HEADER, &have, e))
		return fail_reading(s, e);
	have.size = cut_at;
	if (cut_at)
		return next_before_appended(s, f, HEADER, have, e);
	pd_lost_begin(&s->lost, f, f->offset, PD_E_SIZE, HEADER, size);
	return next_lost(s, f, e);
}

/* Finds out whether what looks like a record of `size` bytes is one; *have are its bytes then.
 * Returns false if it is, else sets *next to what it is. */
static bool judge_doubtful(struct pd_stream *s, struct pd_frame *f, uint64_t size,
			   struct pd_bytes *have, enum pd_next *next, struct pd_error *e)
{
	size_t cut_at;
	int lost;

	*next = PD_NEXT_FAILED;
	if (pd_stream_find_appended(s, f, size, &cut_at, e) || pd_stream_peek(s, size, have, e)) {
		*next = fail_reading(s, e);
		return true;
	}
	f->bytes.data = have->data;
	if (cut_at) {
		*next = next_before_appended(s, f, size, (struct pd_bytes){ have->data, cut_at },
					     e);
		return true;
	}
	lost = pd_stream_is_lost(s, f, *have, size, e);
	if (lost > 0)
		*next = begin_lost(s, f, size, *have, e);
	if (lost > 0)
		return true;
	if (lost < 0 || pd_stream_peek(s, size, have, e)) {	/* the search may have moved it */
		*next = fail_reading(s, e);
		return true;
	}
	f->bytes.data = have->data;
	return false;
}

/* Frames what is at the source's offset. */
static enum pd_next frame_outer(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	struct pd_bytes have;
	struct pd_error wrong_type;
	bool is_damaged, is_corrected;
	uint64_t size;
	enum pd_next next;

	if (s->lost.open)
		return next_lost(s, f, e);
	if (pd_source_offset(s->source) >= s->end)
		return end_of_records(s, f, e);
	if (pd_stream_peek(s, 2 * HEADER, &have, e))
		return fail_reading(s, e);
	if (!have.size)
		return end_too_soon(s, f, e);
	pd_stream_read_header(s, have, f);
	f->offset = pd_source_offset(s->source);
	if (!f->desc && f->offset && pd_magic_of(have, &is_damaged) != PD_MAGIC_NONE && !is_damaged)
		return next_recording(s, f, have, e);
	if (have.size < HEADER) {
		s->pending = have.size;
		return pd_stream_damaged(f, PD_E_TRUNCATED, HEADER, have, e);
	}
	size = pd_stream_real_size(s, f, have);
	if (size < HEADER)
		return frame_tiny(s, f, size, e);
	if (have.size < size + HEADER && peek_record(s, f, size, &have, e))
		return fail_reading(s, e);
	f->bytes = (struct pd_bytes){ have.data, have.size < size ? have.size : (size_t)size };
	is_corrected = have.size >= size && pd_stream_correct_user_type(s, f, &wrong_type);
	f->payload = have.size < size ? 0 : pd_session_payload(s->session, f->desc, f->bytes);
	if (!f->payload && !pd_stream_is_sound(s, f, have, size) &&
	    judge_doubtful(s, f, size, &have, &next, e))
		return next;
	if (have.size < size)
		return next_cut(s, f, size, have, e);
	s->pending = size;
	if (pd_stream_find_payload(s, f, e))
		return fail_reading(s, e);
	pd_stream_keep_sample(s, f);
	if (f->desc && f->desc->compressed &&
	    pd_stream_start_expanding(s, f, e))
		return fail_reading(s, e);
	if (!f->payload && !f->payload_lost && !s->expanding)
		set_peeked(s, f, have);
	if (!is_corrected)
		return PD_NEXT_RECORD;
	*e = wrong_type;
	return PD_NEXT_DAMAGED;
}

/* The same for a stream, where any peek may fail because the bytes come later, or the wait for them
 * is cancelled. Then the state is as before, and the next call finds the same. */
static enum pd_next frame_or_pause(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const struct pd_stream before = *s;
	enum pd_next next = PD_NEXT_FAILED;

	if (!s->awaited || pd_source_await(s->source, s->awaited, e) == 0)
		next = frame_outer(s, f, e);
	if (next != PD_NEXT_FAILED || !pd_is_pause(e->code)) {
		s->awaited = 0;
		return next;
	}
	*s = before;
	s->awaited = e->want;
	return next;
}

static enum pd_next next_outer(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const enum pd_next left = leave_last(s, f, e);

	if (left != PD_NEXT_RECORD)
		return left;
	return pd_source_is_random(s->source) ? frame_outer(s, f, e) : frame_or_pause(s, f, e);
}

/* Counts the zeros at the end of the skipped bytes that end with the frame. */
static void count_zero_tail(struct pd_stream *s, const struct pd_frame *f)
{
	const size_t zeros = pd_zeros_at_end(f->bytes);

	if (zeros < f->bytes.size || f->offset != s->zero_tail_end)
		s->zero_tail = 0;
	s->zero_tail += zeros + f->zeros;
	s->zero_tail_end = f->offset + f->bytes.size + f->zeros;
}

static enum pd_next count_skipped(struct pd_stream *s, const struct pd_frame *f, enum pd_next next)
{
	if ((next == PD_NEXT_RECORD || next == PD_NEXT_DAMAGED) && f->state == PD_FRAME_SKIPPED &&
	    f->inner_offset == PD_OUTER) {
		s->skipped += f->bytes.size + f->zeros;
		count_zero_tail(s, f);
	}
	return next;
}

enum pd_next pd_stream_next(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	if (s->ended)
		return PD_NEXT_END;
	if (s->expanding) {
		enum pd_next next = pd_stream_next_inner(s, f, e);

		if (next != PD_NEXT_END)
			return next;
		s->expanding = false;
	}
	return count_skipped(s, f, next_outer(s, f, e));
}

void pd_stream_account(const struct pd_stream *s, struct pd_account *a)
{
	const uint64_t at = pd_source_offset(s->source) + s->pending;
	uint64_t size;

	a->records += at - s->begin - s->skipped;
	a->skipped += s->skipped;
	a->unwritten += s->unwritten;
	a->unexpanded += s->unexpanded;
	if (pd_source_size(s->source, &size) && s->end > at)
		a->unread += s->end - at;
}
