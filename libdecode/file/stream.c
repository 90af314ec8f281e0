/* stream.c - cuts a source into records. */
#include "file/stream.h"

#include <string.h>

#define TYPE_COMPRESSED2 83
#define IMPLAUSIBLE_TYPE 0x1000000	/* text that perf printed into its own output reads as such */
#define INNER_CHUNK (256 * 1024)
#define LOST_PIECE (32 * 1024)
#define LOST_PEEK 4096		/* of a stream: more only when that settles something */
#define TYPE_SAMPLE 9
#define HEADER PD_RECORD_HEADER_SIZE

void pd_stream_init(struct pd_stream *s, struct pd_source *source, struct pd_session *session, uint64_t end)
{
	*s = (struct pd_stream){ .source = source, .session = session, .end = end, .inner.budget = session->budget,
		.resync.session = session, .lost.bad = UINT64_MAX, .lost_inner.bad = UINT64_MAX };
}

void pd_stream_free(struct pd_stream *s)
{
	pd_codec_free(s->codec);
	pd_buf_free(&s->inner);
}

static void read_header(struct pd_stream *s, struct pd_bytes bytes, struct pd_frame *f)
{
	struct pd_cursor c = pd_cursor(bytes, s->session->swap);
	uint64_t type = 0, misc = 0, size = 0;

	pd_take_number(&c, 4, &type);
	pd_take_number(&c, 2, &misc);
	pd_take_number(&c, 2, &size);
	*f = (struct pd_frame){
		.type = (uint32_t)type, .misc = (uint16_t)misc, .size = (uint16_t)size,
		.desc = pd_record_desc((uint32_t)type), .inner_offset = PD_OUTER,
	};
}

/* A record of which only `bytes` are there, or the last bytes, too few for a header. */
static enum pd_next damaged(struct pd_frame *f, enum pd_code code, uint64_t want, struct pd_bytes bytes,
			    struct pd_error *e)
{
	*e = (struct pd_error){
		.code = code, .severity = PD_DAMAGED, .offset = f->offset, .record_type = f->type,
		.record = f->desc ? f->desc->name : NULL, .want = want, .have = bytes.size,
	};
	f->state = code == PD_E_TRUNCATED && bytes.size >= HEADER ? PD_FRAME_CUT : PD_FRAME_SKIPPED;
	if (f->state == PD_FRAME_SKIPPED)
		e->skipped = bytes.size;
	f->bytes = bytes;
	return PD_NEXT_DAMAGED;
}

/* How many bytes of the record there are: its header says it, but for COMPRESSED2 records of perf 6.16 whose size
 * does not fit the header's 16 bits and wraps. */
static uint64_t real_size(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have)
{
	struct pd_cursor c = pd_cursor(have, s->session->swap);
	uint64_t data_size;

	if (f->type != TYPE_COMPRESSED2 || !pd_take(&c, HEADER) || !pd_take_number(&c, 8, &data_size))
		return f->size;
	if (data_size > PD_PEEK_MAX - 64 || ((2 * HEADER + data_size + 7) & ~7ull) <= f->size)
		return f->size;
	if (((2 * HEADER + data_size + 7) & 0xffff & ~7ull) != (f->size & ~7u))
		return f->size;
	return 2 * HEADER + data_size;
}

/* Decompresses until one more record may be whole. 1: more is there, 0: the payload is used up, -1 *e. */
static int expand(struct pd_stream *s, struct pd_error *e)
{
	uint8_t *room;
	int64_t n;

	pd_buf_consume(&s->inner, s->inner_at);
	s->inner_base += s->inner_at;
	s->inner_at = 0;
	room = pd_buf_reserve(&s->inner, INNER_CHUNK);
	if (!room) {
		*e = (struct pd_error){ .code = PD_E_LIMIT, .severity = PD_DAMAGED, .want = INNER_CHUNK };
		s->inner.failed = false;
		return -1;
	}
	n = pd_codec_read(s->codec, room, INNER_CHUNK, e);
	if (n <= 0)
		return (int)n;
	s->inner.size += (size_t)n;
	return 1;
}

/* --- where framing is lost --- */

/* The time of the last sample, for the search. */
static void set_time(struct pd_stream *s)
{
	struct pd_record_desc const *desc = pd_record_desc(TYPE_SAMPLE);
	const struct pd_bytes sample = { s->sample, s->sample_size };
	struct pd_attr *a;
	uint64_t time;

	if (!s->sample_size || pd_session_attr_of(s->session, desc->type, sample, &a) == PD_NOT_FOUND)
		return;
	if (pd_session_sample_time(s->session, a, sample, &time) && time)
		s->resync.time = time;
}

static void keep_sample(struct pd_stream *s, const struct pd_frame *f)
{
	if (f->type != TYPE_SAMPLE)
		return;
	s->sample_size = f->bytes.size < PD_SAMPLE_HEAD ? (uint16_t)f->bytes.size : PD_SAMPLE_HEAD;
	if (s->sample_size < PD_SAMPLE_HEAD / 2) {
		memcpy(s->sample, f->bytes.data, s->sample_size);
		return;
	}
	/* two halves, overlapping where it is shorter: for every sample, so without a call */
	memcpy(s->sample, f->bytes.data, PD_SAMPLE_HEAD / 2);
	memcpy(s->sample + s->sample_size - PD_SAMPLE_HEAD / 2, f->bytes.data + s->sample_size - PD_SAMPLE_HEAD / 2,
	       PD_SAMPLE_HEAD / 2);
}

/* Has a search been where `at` is? An event that has come since may tell more. */
static bool is_searched(const struct pd_stream *s, const struct pd_lost *l, uint64_t at)
{
	return l->events == s->session->nr_attrs && at >= l->searched && (at < l->clear || (at == l->clear && l->found));
}

static void set_searched(struct pd_stream *s, struct pd_lost *l, uint64_t at, const struct pd_resync_at *found)
{
	l->events = s->session->nr_attrs;
	l->searched = at;
	l->clear = at + found->at;
	l->found = found->result == PD_RESYNC_FOUND;
}

static void lose(struct pd_lost *l, const struct pd_frame *f, uint64_t at, enum pd_code code, uint64_t want,
		 uint64_t have)
{
	l->open = true;
	l->from = l->bad = at;
	l->why = (struct pd_error){
		.code = code, .severity = PD_DAMAGED, .offset = f->offset, .record_type = f->type,
		.record = f->desc ? f->desc->name : NULL, .want = want, .have = have,
	};
}

/* A piece of what is lost, at `at`, of the `size` bytes there that are no record; last: nothing of it comes behind them. */
static enum pd_next lost_piece(struct pd_lost *l, struct pd_frame *f, uint64_t at, struct pd_bytes bytes, bool last,
			       struct pd_error *e)
{
	f->state = PD_FRAME_SKIPPED;
	f->bytes = bytes;
	if (!last)
		return PD_NEXT_RECORD;
	*e = l->why;
	e->skipped = at + bytes.size - l->from;
	l->open = false;
	return bytes.size ? PD_NEXT_DAMAGED : PD_NEXT_DAMAGE;
}

/* Do the headers behind the record at in[0], which lies at `offset` and has `size` bytes, lead to one that can be trusted, over
 * whatever number of unknown types? `closed`: nothing follows the bytes. */
static bool leads_on(const struct pd_stream *s, struct pd_lost *l, struct pd_bytes in, uint64_t offset, uint64_t size,
		     bool closed)
{
	uint64_t at = size;
	bool leads;

	if (offset + size < l->led)
		return true;
	for (;;) {
		const struct pd_record_desc *desc;
		uint32_t type;
		uint16_t n;

		if (at > in.size || in.size - at < HEADER) {
			leads = !closed || at == in.size;
			break;
		}
		type = pd_load32(in.data + at, s->session->swap);
		n = pd_load16(in.data + at + 6, s->session->swap);
		desc = pd_record_desc(type);
		leads = desc && pd_resync_may_begin(type, n, desc);
		if (desc || n < HEADER || type >= IMPLAUSIBLE_TYPE)
			break;
		at += n;
	}
	if (leads)
		l->led = offset + at;
	return leads;
}

/* Is its size nothing to look twice at? Compressed bytes may hold what looks like records. */
static bool is_usual(struct pd_stream *s, const struct pd_frame *f, uint64_t size)
{
	return f->desc && (f->desc->compressed || pd_resync_is_usual(&s->resync, f->type, (size_t)size));
}

/* --- compressed records --- */

static struct pd_bytes inner_left(const struct pd_stream *s)
{
	return (struct pd_bytes){ s->inner.data ? s->inner.data + s->inner_at : NULL, s->inner.size - s->inner_at };
}

enum look_ahead { SEARCHED, NEED_MORE };

/* Sees to it that something is known of the bytes at inner_at. */
static enum look_ahead search_inner(struct pd_stream *s)
{
	const uint64_t at = s->inner_base + s->inner_at;
	struct pd_lost *l = &s->lost_inner;
	struct pd_resync_at found;

	if (is_searched(s, l, at + (at == l->bad)))
		return SEARCHED;
	set_time(s);
	found = pd_resync_find(&s->resync, inner_left(s), at == l->bad, s->no_more_inner ? PD_RESYNC_CLOSED : PD_RESYNC_OPEN);
	if (found.result == PD_RESYNC_MORE || (found.result == PD_RESYNC_NONE && !found.at))
		return NEED_MORE;
	set_searched(s, l, at, &found);
	return SEARCHED;
}

/* A piece of lost bytes; PD_NEXT_END: more are needed to tell. */
static enum pd_next next_lost_inner(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const uint64_t at = s->inner_base + s->inner_at;
	struct pd_bytes bytes = inner_left(s);
	struct pd_lost *l = &s->lost_inner;
	bool last;

	if (search_inner(s) == NEED_MORE && !s->no_more_inner)
		return PD_NEXT_END;
	if (bytes.size > l->clear - at)
		bytes.size = (size_t)(l->clear - at);
	if (bytes.size > LOST_PIECE)
		bytes.size = LOST_PIECE;
	last = at + bytes.size == l->clear && (l->found || (s->no_more_inner && bytes.size == inner_left(s).size));
	s->inner_at += bytes.size;
	return lost_piece(l, f, at, bytes, last, e);
}

/* Is the record at inner_at none, though its header could be one? */
static bool inner_is_lost(struct pd_stream *s, const struct pd_frame *f)
{
	const struct pd_bytes left = inner_left(s);
	const uint64_t at = s->inner_base + s->inner_at;
	struct pd_lost *l = &s->lost_inner;

	if (pd_resync_may_begin(f->type, f->size, f->desc) && leads_on(s, l, left, at, f->size, s->no_more_inner) &&
	    is_usual(s, f, f->size))
		return false;
	if (!f->desc && f->size <= left.size && leads_on(s, l, left, at, f->size, s->no_more_inner) && f->type < IMPLAUSIBLE_TYPE)
		return false;
	set_time(s);
	if (f->size <= left.size && pd_resync_is_trusted(&s->resync, (struct pd_bytes){ left.data, f->size }))
		return false;
	l->bad = at;
	if (search_inner(s) == NEED_MORE)
		return false;
	return l->found ? l->clear < at + f->size || !f->desc : !f->desc || f->size > left.size;
}

/* The next record out of the compressed one that is being expanded; PD_NEXT_END when it is used up. */
static enum pd_next next_inner(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	for (;;) {
		const struct pd_bytes left = inner_left(s);
		enum pd_next next = PD_NEXT_END;
		int more;

		*f = (struct pd_frame){ .offset = s->outer_offset, .inner_offset = s->inner_base + s->inner_at };
		if (s->lost_inner.open) {
			next = next_lost_inner(s, f, e);
		} else if (left.size >= HEADER) {
			const uint64_t at = f->inner_offset;

			read_header(s, left, f);
			f->offset = s->outer_offset;
			f->inner_offset = at;
			if (f->size < HEADER) {
				lose(&s->lost_inner, f, at, PD_E_SIZE, HEADER, f->size);
				continue;
			}
			if ((left.size >= f->size || s->no_more_inner) && inner_is_lost(s, f)) {
				lose(&s->lost_inner, f, at, f->desc ? PD_E_SIZE : PD_E_GARBAGE, f->size, left.size);
				continue;
			}
			if (left.size >= f->size) {
				f->bytes = (struct pd_bytes){ left.data, f->size };
				s->inner_at += f->size;
				keep_sample(s, f);
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

static int start_expanding(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
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

static enum pd_next fail(struct pd_stream *s, struct pd_error *e)
{
	s->ended = true;
	e->severity = PD_FATAL;
	return PD_NEXT_FAILED;
}

/* Bytes of a decompressed record whose rest never came. */
static enum pd_next end_of_records(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	enum pd_next next;
	struct pd_bytes left;

	s->no_more_inner = true;
	next = next_inner(s, f, e);
	if (next != PD_NEXT_END)
		return next;
	s->ended = true;
	left = inner_left(s);
	if (!left.size)
		return PD_NEXT_END;
	read_header(s, left, f);
	f->offset = s->outer_offset;
	f->inner_offset = s->inner_base + s->inner_at;
	return damaged(f, PD_E_TRUNCATED, f->size, left, e);
}

/* Steps over the last frame and its payload. */
static enum pd_next leave_last(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
{
	uint64_t got, want = s->pending + s->payload_left, missing = s->payload_missing;

	s->pending = s->payload_left = s->payload_missing = 0;
	if (pd_source_skip(s->source, want, &got, e))
		return fail(s, e);
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

/* At least `ask` bytes at the source's offset, fewer where the records end. */
static int look(struct pd_stream *s, uint64_t ask, struct pd_bytes *have, struct pd_error *e)
{
	uint64_t room = s->end - pd_source_offset(s->source);

	if (pd_source_peek(s->source, (size_t)(ask < room ? ask : room), have, e))
		return -1;
	if (have->size > room)
		have->size = (size_t)room;
	return 0;
}

/* Nothing follows these bytes. */
static bool is_all(const struct pd_stream *s, struct pd_bytes have, uint64_t asked)
{
	return have.size < asked || have.size == s->end - pd_source_offset(s->source);
}

/* Sees to it that something is known of the bytes at the source's offset. Of a stream no more is asked for than it takes. */
static int search(struct pd_stream *s, struct pd_error *e)
{
	const uint64_t at = pd_source_offset(s->source);
	struct pd_lost *l = &s->lost;
	size_t ask = pd_source_is_random(s->source) ? PD_PEEK_MAX : LOST_PEEK;
	struct pd_resync_at found;
	struct pd_bytes have;

	if (is_searched(s, l, at + (at == l->bad)))
		return 0;
	set_time(s);
	for (;; ask = found.want > 2 * ask ? found.want : 2 * ask) {
		if (ask > PD_PEEK_MAX)
			ask = PD_PEEK_MAX;
		if (look(s, ask, &have, e))
			return -1;
		found = pd_resync_find(&s->resync, have, at == l->bad,
				       is_all(s, have, ask) ? PD_RESYNC_CLOSED : PD_RESYNC_OPEN);
		if ((found.result != PD_RESYNC_MORE && (found.at || found.result == PD_RESYNC_FOUND)) || ask == PD_PEEK_MAX)
			break;
	}
	set_searched(s, l, at, &found);
	return 0;
}

/* Is the rest a hole, and a large one? What was never written can't be a record, and is not shown. */
static bool is_empty_from(struct pd_stream *s, uint64_t at)
{
	uint64_t size = 0;

	return pd_source_is_random(s->source) && pd_source_size(s->source, &size) && size > at &&
	       size - at > PD_RESYNC_SPAN && pd_source_data_from(s->source, at) >= s->end;
}

static enum pd_next end_lost(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	struct pd_error ignored;
	uint64_t size = 0;

	pd_source_size(s->source, &size);
	if (size > s->end)
		size = s->end;
	lost_piece(&s->lost, f, size, (struct pd_bytes){ NULL, 0 }, true, e);
	pd_source_seek(s->source, size, &ignored);
	return PD_NEXT_DAMAGE;
}

/* A piece of lost bytes. */
static enum pd_next next_lost(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const uint64_t at = pd_source_offset(s->source);
	struct pd_lost *l = &s->lost;
	struct pd_bytes have;
	size_t n;

	*f = (struct pd_frame){ .offset = at, .inner_offset = PD_OUTER };
	if (is_empty_from(s, at))
		return end_lost(s, f, e);
	if (search(s, e))
		return fail(s, e);
	n = l->clear - at < LOST_PIECE ? (size_t)(l->clear - at) : LOST_PIECE;
	if (look(s, n + 1, &have, e))
		return fail(s, e);
	s->pending = have.size < n ? have.size : n;
	return lost_piece(l, f, at, (struct pd_bytes){ have.data, (size_t)s->pending },
			  (l->found && at + n == l->clear) || have.size <= n, e);
}

/* Is the record at the source's offset, of which `have` is there, none, though its header could be one? Then its size or type
 * is damaged: a chain of records begins inside it. 1, 0, -1 and *e. */
static int is_lost(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have, uint64_t size, struct pd_error *e)
{
	bool closed = is_all(s, have, size + HEADER), whole = have.size >= size;
	struct pd_lost *l = &s->lost;

	set_time(s);
	if (whole && f->desc && pd_resync_is_trusted(&s->resync, (struct pd_bytes){ have.data, (size_t)size }))
		return 0;
	if (pd_source_is_random(s->source) && f->offset + size >= l->led) {	/* see farther */
		if (look(s, PD_PEEK_MAX, &have, e))
			return -1;
		closed = is_all(s, have, PD_PEEK_MAX);
	}
	if (whole && (f->desc || f->type < IMPLAUSIBLE_TYPE)) {
		if ((!f->desc || pd_resync_may_begin(f->type, (size_t)size, f->desc)) && leads_on(s, l, have, f->offset, size, closed) &&
		    (!f->desc || is_usual(s, f, size)))
			return 0;
	}
	l->bad = f->offset;
	if (search(s, e))
		return -1;
	if (l->found)
		return l->clear < f->offset + size || !f->desc;
	return !f->desc && (f->type >= IMPLAUSIBLE_TYPE || whole);
}

/* The usual case: this header and the next are plausible. */
static bool is_sound(struct pd_stream *s, const struct pd_frame *f, struct pd_bytes have, uint64_t size)
{
	const uint8_t *next;
	uint32_t type;

	if (have.size < size + HEADER || !pd_resync_may_begin(f->type, (size_t)size, f->desc) || !is_usual(s, f, size))
		return false;
	next = have.data + size;
	type = pd_load32(next, s->session->swap);
	return f->offset + size < s->lost.led ||
	       pd_resync_may_begin(type, pd_load16(next + 6, s->session->swap), pd_record_desc(type));
}

/* A payload that can't be: the size of what carries it, or its own, is damaged. 1, 0, -1 and *e. */
static int payload_is_lost(struct pd_stream *s, const struct pd_frame *f, struct pd_error *e)
{
	uint64_t got, end = s->end, size;
	int lost = 0;

	if (!pd_source_is_random(s->source))
		return 0;
	if (pd_source_size(s->source, &size) && size < end)
		end = size;
	if (f->offset + f->bytes.size >= end || f->payload <= end - f->offset - f->bytes.size)
		return 0;
	/* only when there are records somewhere behind it: the payload of a file that was cut short is just that */
	if (pd_source_skip(s->source, f->bytes.size, &got, e))
		return -1;
	for (;;) {
		const uint64_t at = pd_source_offset(s->source);
		struct pd_bytes have;

		if (look(s, PD_PEEK_MAX, &have, e) || search(s, e))
			return -1;
		lost = s->lost.found;
		if (!lost && is_empty_from(s, at))
			break;
		if (lost || is_all(s, have, PD_PEEK_MAX) || s->lost.clear <= at)
			break;
		if (pd_source_skip(s->source, s->lost.clear - at, &got, e))
			return -1;
	}
	return pd_source_seek(s->source, f->offset, e) ? -1 : lost;
}

/* How much of what follows the record belongs to it. Its bytes stay in the window. */
static int find_payload(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	const uint64_t behind = f->offset + f->bytes.size;
	const int lost = f->payload ? payload_is_lost(s, f, e) : 0;
	struct pd_bytes have;

	if (lost < 0)
		return -1;
	if (f->payload) {	/* the search may have moved the window */
		if (look(s, f->bytes.size, &have, e))
			return -1;
		f->bytes.data = have.data;
	}
	if (lost) {
		lose(&s->lost, f, behind, PD_E_PAYLOAD, f->payload, s->lost.clear - behind);
		s->lost.bad = UINT64_MAX;	/* a record may follow at once */
		f->payload = 0;
		f->payload_lost = true;
	}
	s->payload_left = f->payload;
	if (f->payload > s->end - behind) {	/* what is behind the data is no part of them */
		s->payload_left = s->end - behind;
		s->payload_missing = f->payload - s->payload_left;
	}
	s->payload_of = f->desc ? f->desc->name : NULL;
	return 0;
}

static enum pd_next next_outer(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	enum pd_next left = leave_last(s, f, e);
	const bool ahead = pd_source_is_random(s->source);
	struct pd_bytes have;
	uint64_t size;
	int lost;

	if (left != PD_NEXT_RECORD)
		return left;
	if (s->lost.open)
		return next_lost(s, f, e);
	if (pd_source_offset(s->source) >= s->end)
		return end_of_records(s, f, e);
	if (look(s, 2 * HEADER, &have, e))
		return fail(s, e);
	if (!have.size)
		return end_of_records(s, f, e);
	read_header(s, have, f);
	f->offset = pd_source_offset(s->source);
	if (have.size < HEADER) {
		s->pending = have.size;
		return damaged(f, PD_E_TRUNCATED, HEADER, have, e);
	}
	size = real_size(s, f, have);
	if (size < HEADER) {
		lose(&s->lost, f, f->offset, PD_E_SIZE, HEADER, size);
		return next_lost(s, f, e);
	}
	if (have.size < size + (ahead ? HEADER : 0) && look(s, size + (ahead ? HEADER : 0), &have, e))
		return fail(s, e);
	f->bytes = (struct pd_bytes){ have.data, have.size < size ? have.size : (size_t)size };
	f->payload = have.size < size ? 0 : pd_session_payload(s->session, f->desc, f->bytes);
	if (!f->payload && !is_sound(s, f, have, size)) {
		lost = is_lost(s, f, have, size, e);
		if (lost < 0)
			return fail(s, e);
		if (lost) {
			lose(&s->lost, f, f->offset, f->desc ? PD_E_SIZE : PD_E_GARBAGE, size, have.size);
			return next_lost(s, f, e);
		}
		if (look(s, size, &have, e))	/* the search may have moved the window */
			return fail(s, e);
		f->bytes.data = have.data;
	}
	if (have.size < size) {
		s->pending = have.size;
		return damaged(f, PD_E_TRUNCATED, size, have, e);
	}
	s->pending = size;
	if (find_payload(s, f, e))
		return fail(s, e);
	keep_sample(s, f);
	if (f->desc && f->desc->compressed && start_expanding(s, f, e))
		return fail(s, e);
	return PD_NEXT_RECORD;
}

enum pd_next pd_stream_next(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	if (s->ended)
		return PD_NEXT_END;
	if (s->expanding) {
		enum pd_next next = next_inner(s, f, e);

		if (next != PD_NEXT_END)
			return next;
		s->expanding = false;
	}
	return next_outer(s, f, e);
}

int pd_stream_payload(struct pd_stream *s, size_t n, struct pd_bytes *out, struct pd_error *e)
{
	uint64_t got;

	*out = (struct pd_bytes){ NULL, 0 };
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
