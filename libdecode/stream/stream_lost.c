/* stream_lost.c - lost framing: the range that was searched, and which headers to trust. */
#include "input/magic.h"
#include "layout/container.h"
#include "stream/record.h"
#include "stream/stream_internal.h"

#define HEADER PD_RECORD_HEADER_SIZE

/* Bytes that are no record have no type: the header that was read there is not one. */
static void set_skipped(struct pd_frame *f, struct pd_bytes bytes)
{
	f->state = PD_FRAME_SKIPPED;
	f->type = 0;
	f->desc = NULL;
	f->bytes = bytes;
}

enum pd_next pd_stream_damaged(struct pd_frame *f, enum pd_code code, uint64_t want,
			       struct pd_bytes bytes, struct pd_error *e)
{
	*e = (struct pd_error){
		.code = code, .severity = PD_DAMAGED, .offset = f->offset, .record_type = f->type,
		.record = f->desc ? f->desc->name : NULL, .want = want, .have = bytes.size,
	};
	if (code == PD_E_TRUNCATED)
		e->text = f->inner_offset == PD_OUTER ? "the records end inside it" :
							"the compressed records end inside it";
	if (code == PD_E_TRUNCATED && bytes.size >= HEADER) {
		f->state = PD_FRAME_CUT;
		f->bytes = bytes;
	} else {
		e->skipped = bytes.size;
		set_skipped(f, bytes);
	}
	return PD_NEXT_DAMAGED;
}

/* Gets the time of a sample from its first bytes. Returns false if it has none. */
static bool read_sample_time(const struct pd_stream *s, struct pd_bytes sample, uint64_t *time)
{
	struct pd_attr *a;

	return sample.size &&
	       pd_session_attr_of(s->session, PD_RECORD_SAMPLE, sample, &a) != PD_NOT_FOUND &&
	       pd_session_sample_time(s->session, a, sample, time) && *time;
}

/* Prepares the record at the start of `bytes`. Returns false if it is none, or not whole. */
static bool prepare_at(struct pd_stream *s, struct pd_bytes bytes, struct pd_record *r)
{
	const struct pd_record_header h = pd_record_header_load(bytes.data, s->session->swap);

	*r = (struct pd_record){ .session = s->session, .frame = {
		.type = h.type, .misc = h.misc, .size = h.size, .bytes = { bytes.data, h.size },
		.inner_offset = PD_OUTER, .desc = pd_record_desc(h.type),
		.state = PD_FRAME_WHOLE } };
	return h.size <= bytes.size && pd_resync_may_begin(h.type, h.size, r->frame.desc) &&
	       pd_resync_charge(&s->resync, h.size) && !pd_record_prepare(r);
}

/* Returns whether headers lead from have[at] to have[to], record by record. Sets *last to the
 * offset of the last. */
static bool leads_to(const struct pd_stream *s, struct pd_bytes have, uint64_t at, uint64_t to,
		     uint64_t *last)
{
	while (at < to) {
		const struct pd_record_header h =
			pd_record_header_load(have.data + at, s->session->swap);

		if (!pd_resync_may_begin(h.type, h.size, pd_record_desc(h.type)))
			return false;
		*last = at;
		at += h.size;
	}
	return at == to;
}

/* Returns whether the record at have[at] is older than one of time `time`, or its time is
 * impossible. */
static bool is_older(struct pd_stream *s, struct pd_bytes have, uint64_t at, uint64_t time)
{
	const struct pd_bytes bytes = { have.data + at, have.size - (size_t)at };
	struct pd_record record;
	uint64_t before;

	return prepare_at(s, bytes, &record) && pd_record_hot_time(&record, &before) && before &&
	       !pd_resync_is_later(before, time);
}

enum next_record { NOT_NEXT, MAY_BE_NEXT, IS_LATER };

/* Finds out whether the record after one of time `time` is at the start of `bytes`. It may be too
 * large, as well. */
static enum next_record judge_next(struct pd_stream *s, struct pd_bytes bytes, uint64_t time)
{
	struct pd_record next;
	uint64_t later;

	if (!prepare_at(s, bytes, &next) ||
	    (next.error.code != PD_OK && next.error.code != PD_E_TRAILING))
		return NOT_NEXT;
	if (!pd_record_hot_time(&next, &later) || !later)
		return pd_record_trailing(&next).size ? NOT_NEXT : MAY_BE_NEXT;
	if (!pd_resync_is_near(later, time))
		return NOT_NEXT;
	return later >= time ? IS_LATER : MAY_BE_NEXT;
}

/* Returns whether the bytes of a sample from `at` on were in the buffer before, although records
 * there may follow its fields directly. Those that a damaged size covers lead to the record after
 * it, and the sample's time is not between theirs and that one's. */
static bool are_old_records(struct pd_stream *s, struct pd_bytes have, uint64_t size, uint64_t at,
			    uint64_t time)
{
	const struct pd_bytes after = { have.data + size, have.size - (size_t)size };
	const enum next_record next = judge_next(s, after, time);
	uint64_t last;

	pd_resync_charge(&s->resync, size);
	if (next == NOT_NEXT || !leads_to(s, have, at, size, &last))
		return next != NOT_NEXT;
	return next == IS_LATER && is_older(s, have, last, time);
}

uint64_t pd_lost_size_with_next(const struct pd_stream *s, struct pd_bytes have, uint64_t size)
{
	uint64_t next = HEADER;

	if (have.size >= size + HEADER)
		next = pd_record_header_load(have.data + size, s->session->swap).size;
	return size + (next > HEADER ? next : HEADER);
}

bool pd_lost_are_old_bytes(struct pd_stream *s, struct pd_bytes have, uint64_t size, uint64_t at)
{
	struct pd_record sample, inside;
	struct pd_record_header next;
	uint64_t time, other;
	bool has_time;

	if (have.size < size + HEADER || at >= size || !prepare_at(s, have, &sample) ||
	    sample.frame.type != PD_RECORD_SAMPLE || !pd_record_hot_time(&sample, &time) ||
	    !prepare_at(s, (struct pd_bytes){ have.data + at, have.size - (size_t)at }, &inside))
		return false;
	has_time = pd_record_hot_time(&inside, &other) && other;
	if (has_time && pd_resync_is_later(other, time))
		return false;
	if (!has_time || !pd_resync_is_near(other, time) || at == HEADER + sample.extent.end)
		return are_old_records(s, have, size, at, time);
	next = pd_record_header_load(have.data + size, s->session->swap);
	return pd_resync_may_begin(next.type, next.size, pd_record_desc(next.type));
}

void pd_lost_set_time(struct pd_stream *s)
{
	uint64_t time;

	pd_stream_save_sample(s);
	if (read_sample_time(s, (struct pd_bytes){ s->sample, s->sample_size }, &time))
		s->resync.time = time;
}

void pd_lost_prepare_search(struct pd_stream *s, struct pd_lost *l, uint64_t offset)
{
	pd_lost_set_time(s);
	pd_resync_earn(&s->resync, &l->credited_to, offset);
}

bool pd_lost_is_searched(const struct pd_stream *s, const struct pd_lost *l, uint64_t at)
{
	return l->events == s->session->nr_attrs && at >= l->searched_from &&
	       (at < l->searched_to || (at == l->searched_to && l->found));
}

void pd_lost_set_searched(struct pd_stream *s, struct pd_lost *l, uint64_t at,
			  const struct pd_resync_at *found)
{
	l->events = s->session->nr_attrs;
	l->searched_from = at;
	l->searched_to = at + found->at;
	l->found = found->result == PD_RESYNC_FOUND;
}

void pd_lost_begin(struct pd_lost *l, const struct pd_frame *f, uint64_t at, enum pd_code code,
		   uint64_t want, uint64_t have)
{
	l->open = l->only_zeros = true;
	l->from = l->bad_at = at;
	l->is_appended = false;
	l->followed_to = 0;	/* those headers are not followed now */
	l->error_at_end = (struct pd_error){
		.code = code, .severity = PD_DAMAGED, .offset = f->offset, .record_type = f->type,
		.record = f->desc ? f->desc->name : NULL, .want = want, .have = have,
	};
}

void pd_lost_begin_recording(struct pd_lost *l, const struct pd_frame *f, bool is_read)
{
	pd_lost_begin(l, f, f->offset, PD_E_TRAILING, PD_MAGIC_SIZE, 0);
	l->is_appended = !is_read;
	l->error_at_end.record = "recording";
	l->error_at_end.text = is_read ? "another one: its events are added to those before it" :
					 PD_ANOTHER_RECORDING;
}

/* Returns whether a whole header of a recording begins here. */
static bool is_recording(struct pd_bytes bytes)
{
	bool is_damaged, is_big;
	enum pd_magic magic;
	uint64_t size;

	if (bytes.size < PD_MAGIC_SIZE)
		return false;
	magic = pd_magic_of(bytes, &is_damaged);
	if ((magic != PD_MAGIC_LITTLE && magic != PD_MAGIC_BIG) || is_damaged)
		return false;
	is_big = magic == PD_MAGIC_BIG;
	size = pd_load64(bytes.data + PD_MAGIC_TEXT,
			 is_big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? PD_SWAP_NO :
									      PD_SWAP_YES);
	return size == PD_MAGIC_SIZE || size == PD_FILE_HEADER_SIZE;
}

size_t pd_lost_find_recording(struct pd_bytes bytes)
{
	static const char *const magics[] = { "PERFILE2", "2ELIFREP" };
	size_t first = 0;

	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		const uint8_t *at = bytes.data, *const end = bytes.data + bytes.size;

		while (at < end && (at = memmem(at + 1, (size_t)(end - at - 1), magics[i],
						strlen(magics[i])))) {
			if (!is_recording((struct pd_bytes){ at, (size_t)(end - at) }))
				continue;
			if (!first || (size_t)(at - bytes.data) < first)
				first = (size_t)(at - bytes.data);
			break;
		}
	}
	return first;
}

enum pd_next pd_lost_piece(struct pd_lost *l, struct pd_frame *f, uint64_t at,
			   struct pd_bytes bytes, bool last, struct pd_error *e)
{
	set_skipped(f, bytes);
	if (!last)
		return PD_NEXT_RECORD;
	*e = l->error_at_end;
	e->skipped = at + bytes.size + f->zeros - l->from;
	l->open = false;
	return bytes.size || f->zeros ? PD_NEXT_DAMAGED : PD_NEXT_DAMAGE;
}

enum pd_leads pd_stream_leads_on(struct pd_stream *s, struct pd_lost *l, struct pd_bytes in,
				 uint64_t offset, uint64_t size, bool closed)
{
	enum pd_leads leads;
	uint64_t at = size;

	if (offset + size < l->followed_to)
		return PD_LEADS_ON;
	pd_resync_earn(&s->resync, &l->credited_to, offset);
	for (;;) {
		const struct pd_record_desc *desc;
		struct pd_record_header h;

		if (at > in.size || in.size - at < HEADER) {
			leads = !closed	      ? PD_LEADS_OUT_OF_SIGHT :
				at == in.size ? PD_LEADS_ON :
						PD_LEADS_NOWHERE;
			break;
		}
		h = pd_record_header_load(in.data + at, s->session->swap);
		desc = pd_record_desc(h.type);
		leads = desc && pd_resync_may_begin(h.type, h.size, desc) ? PD_LEADS_ON :
									    PD_LEADS_NOWHERE;
		if (desc || h.size < HEADER || !h.type || h.type >= PD_IMPLAUSIBLE_TYPE ||
		    !pd_resync_charge(&s->resync, 1))
			break;
		at += h.size;
	}
	if (leads)
		l->followed_to = offset + at;
	return leads;
}

void pd_stream_save_state(struct pd_stream *s, struct pd_stream_state *out)
{
	pd_stream_save_sample(s);
	*out = (struct pd_stream_state){ .lost = s->lost,
					 .time = s->resync.time,
					 .credit = s->resync.credit,
					 .sample_size = s->sample_size };
	memcpy(out->sample, s->sample, sizeof(s->sample));
}

void pd_stream_set_state(struct pd_stream *s, const struct pd_stream_state *state)
{
	s->lost = state->lost;
	s->resync.time = state->time;
	s->resync.credit = state->credit;
	s->sample_size = state->sample_size;
	memcpy(s->sample, state->sample, sizeof(s->sample));
	s->last_sample.size = 0;
}
