/* stream.c - cuts a source into records. */
#include "file/stream.h"

#define TYPE_COMPRESSED2 83
#define IMPLAUSIBLE_TYPE 0x1000000	/* text that perf printed into its own output reads as such */
#define INNER_CHUNK (256 * 1024)
#define DRAIN_CHUNK (32 * 1024)
#define HEADER PD_RECORD_HEADER_SIZE

void pd_stream_init(struct pd_stream *s, struct pd_source *source, struct pd_session *session, uint64_t end)
{
	*s = (struct pd_stream){ .source = source, .session = session, .end = end, .inner.budget = session->budget };
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

/* A record of which only `bytes` are there, or bytes that are none. */
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

/* The next record out of the compressed one that is being expanded; PD_NEXT_END when it is used up. */
static enum pd_next next_inner(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	for (;;) {
		struct pd_bytes left = { s->inner.data + s->inner_at, s->inner.size - s->inner_at };
		int more;

		if (left.size >= HEADER) {
			read_header(s, left, f);
			f->offset = s->outer_offset;
			f->inner_offset = s->inner_base + s->inner_at;
			if (f->size < HEADER) {
				s->inner_at = s->inner.size;
				return damaged(f, PD_E_SIZE, HEADER, left, e);
			}
			if (left.size >= f->size) {
				f->bytes = (struct pd_bytes){ left.data, f->size };
				s->inner_at += f->size;
				return PD_NEXT_RECORD;
			}
		}
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
	struct pd_bytes left = { s->inner.data + s->inner_at, s->inner.size - s->inner_at };

	s->ended = true;
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

/* The rest of the input, in pieces: no record can be told in it. */
static enum pd_next drain(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	struct pd_bytes have;

	*f = (struct pd_frame){ .offset = pd_source_offset(s->source), .inner_offset = PD_OUTER };
	if (look(s, DRAIN_CHUNK, &have, e))
		return fail(s, e);
	if (!have.size)
		return end_of_records(s, f, e);
	if (have.size > DRAIN_CHUNK)
		have.size = DRAIN_CHUNK;
	s->pending = have.size;
	return damaged(f, PD_E_GARBAGE, have.size, have, e);
}

static enum pd_next next_outer(struct pd_stream *s, struct pd_frame *f, struct pd_error *e)
{
	enum pd_next left = leave_last(s, f, e);
	struct pd_bytes have;
	uint64_t size;

	if (left != PD_NEXT_RECORD)
		return left;
	if (pd_source_offset(s->source) >= s->end)
		return end_of_records(s, f, e);
	if (s->draining)
		return drain(s, f, e);
	if (look(s, 2 * HEADER, &have, e))
		return fail(s, e);
	if (!have.size)
		return end_of_records(s, f, e);
	read_header(s, have, f);
	f->offset = pd_source_offset(s->source);
	size = real_size(s, f, have);
	if (have.size < size && look(s, size, &have, e))
		return fail(s, e);
	if (have.size < HEADER || size < HEADER || (have.size < size && f->type >= IMPLAUSIBLE_TYPE)) {
		s->draining = true;
		s->pending = 0;
		if (have.size > DRAIN_CHUNK)
			have.size = DRAIN_CHUNK;
		s->pending = have.size;
		return damaged(f, have.size < HEADER ? PD_E_TRUNCATED : size < HEADER ? PD_E_SIZE : PD_E_GARBAGE,
			       size < HEADER ? HEADER : size, have, e);
	}
	if (have.size < size) {
		s->pending = have.size;
		s->draining = true;
		return damaged(f, PD_E_TRUNCATED, size, have, e);
	}
	f->bytes = (struct pd_bytes){ have.data, (size_t)size };
	f->payload = pd_session_payload(s->session, f->desc, f->bytes);
	s->pending = size;
	s->payload_left = f->payload;
	if (f->payload > s->end - f->offset - size) {	/* what is behind the data is no part of them */
		s->payload_left = s->end - f->offset - size;
		s->payload_missing = f->payload - s->payload_left;
	}
	s->payload_of = f->desc ? f->desc->name : NULL;
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
