/* stream.c - frames a source: cuts it into records. */
#include "input/magic.h"
#include "stream/stream_internal.h"

#define HEADER PD_RECORD_HEADER_SIZE
#define BLOCK 4096	/* of a file system */
#define DOUBTFUL_PAYLOAD (64u << 20)	/* of this size or more: AUX areas are smaller */

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

/* Returns whether the whole record at the start of `have` is accepted without a look at what
 * follows, which a stream may not have yet. One that is only a header hides nothing. */
static bool is_credible(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have,
			uint64_t size)
{
	const struct pd_bytes record = { have.data, (size_t)size };

	if (!f->desc || size == HEADER)
		return f->desc;
	return pd_resync_is_trusted(&s->resync, record) ||
	       (pd_stream_is_usual(s, f, size) && pd_resync_is_credible(&s->resync, record));
}

/* Returns 1 if what is at the source's offset is not a record, although its header is possible: its
 * size or type is damaged, and a chain of records begins inside it. Returns 0 if it is a record, -1
 * and *e on failure. */
static int is_lost(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have,
		   uint64_t size, struct pd_error *e)
{
	const bool whole = have.size >= size;
	enum believed believed = NOT_BELIEVED;
	struct pd_lost *l = &s->lost;

	pd_lost_prepare_search(s, l, f->offset);
	if (whole && is_credible(s, f, have, size))
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

/* Returns 1 if the payload cannot be there because its size, or that of its record, is damaged; 0
 * if it can; -1 and *e on failure. The end of a stream is not known: only large payloads are
 * doubted, and records are looked for at their beginning. */
static int payload_is_lost(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
{
	uint64_t got, end = s->end, size;
	struct pd_bytes have;
	int lost = 0;

	if (!pd_source_is_random(s->source)) {
		if (f->payload < DOUBTFUL_PAYLOAD)
			return 0;
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

/* Finds out how many of the bytes after the record are its payload. Keeps the record's bytes in the
 * window. */
static int find_payload(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
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
		    (seen.size < size + HEADER && is_credible(s, f, *have, size)))
			return 0;
	}
	return pd_stream_peek(s, size + HEADER, have, e);
}

/* Finds the header of a recording that was appended to one whose recorder was killed inside a
 * record: the record's size covers it. A plausible header after the record shows that such bytes
 * are its own; records before that header, that the size is damaged. A stream is not waited for.
 * Sets *at to 0 if there is none. Returns 0, or -1 and *e. */
static int find_appended(struct pd_stream *s, const struct pd_frame *f, uint64_t size, size_t *at,
			 struct pd_error *e)
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

	if (find_appended(s, f, HEADER, &cut_at, e) || pd_stream_peek(s, HEADER, &have, e))
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
	if (find_appended(s, f, size, &cut_at, e) || pd_stream_peek(s, size, have, e)) {
		*next = fail_reading(s, e);
		return true;
	}
	f->bytes.data = have->data;
	if (cut_at) {
		*next = next_before_appended(s, f, size, (struct pd_bytes){ have->data, cut_at },
					     e);
		return true;
	}
	lost = is_lost(s, f, *have, size, e);
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
	bool is_damaged;
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
	f->payload = have.size < size ? 0 : pd_session_payload(s->session, f->desc, f->bytes);
	if (!f->payload && !pd_stream_is_sound(s, f, have, size) &&
	    judge_doubtful(s, f, size, &have, &next, e))
		return next;
	if (have.size < size)
		return next_cut(s, f, size, have, e);
	s->pending = size;
	if (find_payload(s, f, e))
		return fail_reading(s, e);
	pd_stream_keep_sample(s, f);
	if (f->desc && f->desc->compressed &&
	    pd_stream_start_expanding(s, f, e))
		return fail_reading(s, e);
	if (!f->payload && !f->payload_lost && !s->expanding)
		set_peeked(s, f, have);
	return PD_NEXT_RECORD;
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
