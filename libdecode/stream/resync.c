/* resync.c - finds the next record after damage. */
#include "stream/resync.h"

#include "pd/enums.h"
#include "stream/record.h"

#define HEADER PD_RECORD_HEADER_SIZE
#define CHAIN_MAX 8
/* Points for a record: */
#define IS_WHOLE 1
#define IS_FILLED 1		/* its fields fill it */
#define HAS_ID 2		/* has an id of its event */
#define IS_NEAR 2		/* its time is near that of the sample before */
#define ADDS_UP 1		/* the variable parts of a sample add up to its size */
#define TRUSTED 5		/* points that a chain needs, ... */
#define TRUSTED_AT_END 2	/* ... and one that ends where the records end */
#define REACH 65536		/* no record is larger */
#define MOVES_MAX 8

/* Returns whether there may be a header: addresses and small numbers have no valid size there. */
static inline bool may_have_size(const struct pd_resync *r, struct pd_bytes in, size_t at)
{
	return pd_record_header_load(in.data + at, r->session->swap).size >= HEADER;
}

static void read_header(const struct pd_resync *r, struct pd_bytes in, struct pd_frame *f)
{
	const struct pd_record_header h = pd_record_header_load(in.data, r->session->swap);

	*f = (struct pd_frame){
		.type = h.type, .misc = h.misc, .size = h.size, .inner_offset = PD_OUTER,
		.state = PD_FRAME_WHOLE,
		.desc = pd_record_desc(h.type),
	};
}

static bool has_known_id(const struct pd_resync *r, const struct pd_record *record)
{
	uint64_t id;

	return record->attr &&
	       pd_session_id_of(r->session, record->attr, record->frame.type, record->frame.bytes,
				&id) &&
	       id && pd_session_by_id(r->session, id) == record->attr;
}

/* Returns whether a sample has an id that belongs to no event. */
static bool has_unknown_id(const struct pd_resync *r, const struct pd_record *record)
{
	uint64_t id;

	return record->frame.type == PD_RECORD_SAMPLE && record->attr && record->attr->nr_ids &&
	       r->session->same_id_at &&
	       pd_session_id_of(r->session, record->attr, record->frame.type, record->frame.bytes,
				&id) &&
	       id && !pd_session_by_id(r->session, id);
}

/* Returns the points of a prepared record; 0: not a record. */
static int score_record(struct pd_resync *r, const struct pd_record *record)
{
	uint64_t time;
	int sum = IS_WHOLE;

	if (record->error.code != PD_OK || has_unknown_id(r, record))
		return 0;
	if (record->plan && !pd_record_trailing(record).size && record->frame.size > HEADER)
		sum += IS_FILLED;
	if (record->frame.type >= PD_RECORD_USER_START)
		return sum;
	if (has_known_id(r, record))
		sum += HAS_ID;
	if (r->time && pd_record_time(record, &time) && pd_resync_is_near(time, r->time))
		sum += IS_NEAR;
	return sum;
}

/* The same for a record that fills f->bytes. */
static int score_frame(struct pd_resync *r, const struct pd_frame *f)
{
	struct pd_record record = { .frame = *f, .session = r->session };

	return !pd_resync_charge(r, f->size) || pd_record_prepare(&record) ?
		       0 :
		       score_record(r, &record);
}

/* Looks for a chain that begins at in[at]. */
static struct pd_resync_at try_chain(struct pd_resync *r, struct pd_bytes in, size_t at,
				     enum pd_resync_end end)
{
	const struct pd_resync_at no = { .result = PD_RESYNC_NONE };
	size_t next = at;
	int sum = 0;

	for (size_t i = 0; i < CHAIN_MAX; i++) {
		struct pd_frame f;
		int more;

		if (in.size - next < HEADER) {
			if (end == PD_RESYNC_OPEN)
				return (struct pd_resync_at){ PD_RESYNC_MORE, at, next + HEADER };
			return in.size == next && sum >= TRUSTED_AT_END ?
				       (struct pd_resync_at){ PD_RESYNC_FOUND, at, 0 } :
				       no;
		}
		read_header(r, (struct pd_bytes){ in.data + next, HEADER }, &f);
		if (!pd_resync_may_begin(f.type, f.size, f.desc))
			return no;
		if (f.size > in.size - next)
			return end == PD_RESYNC_OPEN ?
				       (struct pd_resync_at){ PD_RESYNC_MORE, at, next + f.size } :
				       no;
		f.bytes = (struct pd_bytes){ in.data + next, f.size };
		more = score_frame(r, &f);
		if (!more)
			return no;
		sum += more;
		if (sum >= TRUSTED)
			return (struct pd_resync_at){ PD_RESYNC_FOUND, at, 0 };
		if (f.desc->payload && pd_session_payload(r->session, f.desc, f.bytes))
			return no;
		next += f.size;
	}
	return (struct pd_resync_at){ PD_RESYNC_FOUND, at, 0 };
}

/* Gets the time of the record at in[at]; the first bytes of a sample are enough. */
static bool time_at(struct pd_resync *r, struct pd_bytes in, size_t at, uint64_t *time)
{
	struct pd_record record = { .session = r->session };
	struct pd_frame *f = &record.frame;
	struct pd_attr *a;

	read_header(r, (struct pd_bytes){ in.data + at, HEADER }, f);
	if (!pd_resync_may_begin(f->type, f->size, f->desc))
		return false;
	f->bytes =
		(struct pd_bytes){ in.data + at, f->size < in.size - at ? f->size : in.size - at };
	if (f->type == PD_RECORD_SAMPLE)
		return pd_session_attr_of(r->session, f->type, f->bytes, &a) != PD_NOT_FOUND &&
		       pd_session_sample_time(r->session, a, f->bytes, time);
	return f->bytes.size == f->size && score_frame(r, f) && !pd_record_prepare(&record) &&
	       pd_record_time(&record, time);
}

/* Finds a chain inside the record at in[at] that is later than it. */
static struct pd_resync_at find_later(struct pd_resync *r, struct pd_bytes in, size_t at,
				      size_t size, enum pd_resync_end end)
{
	uint64_t time, later;

	if (!time_at(r, in, at, &time))
		return (struct pd_resync_at){ .result = PD_RESYNC_NONE };
	for (size_t inside = at + 8; inside < at + size; inside += 8) {
		struct pd_resync_at found;

		if (in.size - inside < HEADER)
			return (struct pd_resync_at){ end == PD_RESYNC_OPEN ? PD_RESYNC_MORE :
									      PD_RESYNC_NONE,
						      at, at + size + HEADER };
		if (!pd_resync_charge(r, 1))
			break;
		if (!may_have_size(r, in, inside) || !time_at(r, in, inside, &later) ||
		    later <= time || !pd_resync_is_near(later, time))
			continue;
		found = try_chain(r, in, inside, end);
		if (found.result != PD_RESYNC_NONE)
			return found;
	}
	return (struct pd_resync_at){ .result = PD_RESYNC_NONE };
}

/* Returns whether the record that begins at in[at] may have old records in it. */
static bool has_stack_copy(const struct pd_resync *r, const struct pd_frame *f, struct pd_bytes in,
			   size_t at)
{
	const struct pd_bytes bytes = { in.data + at,
					f->size < in.size - at ? f->size : in.size - at };
	struct pd_attr *a;

	return f->type == PD_RECORD_SAMPLE && f->size >= PD_RESYNC_UNUSUAL &&
	       pd_session_attr_of(r->session, f->type, bytes, &a) != PD_NOT_FOUND &&
	       a->sample_type & PD_SAMPLE_STACK_USER;
}

/* Moves from a chain at in[at] to the latest one that overlaps it.
 *
 * If a user stack is smaller than its copy in a sample, the kernel leaves the rest of the copy as
 * it was in the ring buffer: whole old records, which may form chains from one copy to the next.
 * Each of them is older than the sample around it, and because no copy ends where such a record
 * does, the chain runs over the beginning of a later sample.
 */
static struct pd_resync_at find_latest(struct pd_resync *r, struct pd_bytes in, size_t at,
				       enum pd_resync_end end)
{
	unsigned int moves = 0;
	size_t next = at;

	while (moves < MOVES_MAX && next - at < REACH && in.size - next >= HEADER &&
	       pd_resync_charge(r, 1)) {
		struct pd_resync_at found = { .result = PD_RESYNC_NONE };
		struct pd_frame f;
		bool may_have_old;

		read_header(r, (struct pd_bytes){ in.data + next, HEADER }, &f);
		if (!pd_resync_may_begin(f.type, f.size, f.desc))
			break;
		may_have_old = has_stack_copy(r, &f, in, next);
		if (may_have_old)
			found = find_later(r, in, next, f.size, end);
		if (found.result == PD_RESYNC_MORE)
			return found;
		moves += found.result == PD_RESYNC_FOUND;
		if (found.result == PD_RESYNC_FOUND)
			at = next = found.at;
		else if (may_have_old || in.size - next < f.size)
			break;	/* what follows a real record is not old */
		else
			next += f.size;
	}
	return (struct pd_resync_at){ PD_RESYNC_FOUND, at, 0 };
}

/* Finds the first chain that begins in [from, to), at a multiple of `step`. */
static struct pd_resync_at find_at_steps(struct pd_resync *r, struct pd_bytes in, size_t from,
					 size_t to, size_t step, enum pd_resync_end end)
{
	for (size_t at = (from + step - 1) / step * step; at < to && in.size - at >= HEADER;
	     at += step) {
		struct pd_resync_at found;

		pd_resync_charge(r, 1);
		if (!may_have_size(r, in, at))
			continue;
		found = try_chain(r, in, at, end);
		if (found.result != PD_RESYNC_NONE)
			return found;
	}
	return (struct pd_resync_at){ .result = PD_RESYNC_NONE };
}

/* Finds the first chain. Blocks of a fixed size are searched one after the other, so that a stream,
 * of which less is visible, has the same result as a file. */
static struct pd_resync_at find_first(struct pd_resync *r, struct pd_bytes in, size_t from,
				      enum pd_resync_end end)
{
	const size_t span = in.size < PD_RESYNC_SPAN ? in.size : PD_RESYNC_SPAN;

	for (size_t to; from < span; from = to) {
		struct pd_resync_at found;

		to = (from / PD_RESYNC_BLOCK + 1) * PD_RESYNC_BLOCK;
		if (to > span)
			to = span;
		found = find_at_steps(r, in, from, to, 4, end);
		if (found.result == PD_RESYNC_NONE)
			found = find_at_steps(r, in, from, to, 1, end);
		if (found.result != PD_RESYNC_NONE)
			return found;
	}
	if (end == PD_RESYNC_CLOSED && span == in.size)
		return (struct pd_resync_at){ PD_RESYNC_NONE, in.size, 0 };
	return (struct pd_resync_at){ PD_RESYNC_NONE,
				      in.size - span >= HEADER ? span :
				      in.size >= HEADER	       ? in.size - HEADER + 1 :
								 0,
				      HEADER };
}

struct pd_resync_at pd_resync_find(struct pd_resync *r, struct pd_bytes in, size_t from,
				   enum pd_resync_end end)
{
	const struct pd_resync_at first = find_first(r, in, from, end);

	return first.result == PD_RESYNC_FOUND ? find_latest(r, in, first.at, end) : first;
}

bool pd_resync_text_ends_well(const struct pd_record *r)
{
	const struct pd_op_list *list = r->plan->list;
	const struct pd_op *last = list->nr_ops ? &list->ops[list->nr_ops - 1] : NULL;
	struct pd_bytes text;

	if (!last || last->kind != PD_CSTR || last->offset == PD_VARIABLE ||
	    last->offset >= r->body.size)
		return true;
	text = (struct pd_bytes){ r->body.data + last->offset, r->body.size - last->offset };
	text.data += pd_text_length(text);
	text.size = (size_t)(r->body.data + r->body.size - text.data);
	return pd_all_zero(text);
}

/* Returns whether a sample's own counts add up to its size: it has variable parts, and nothing is
 * left. */
static bool adds_up(const struct pd_record *r)
{
	return r->frame.type == PD_RECORD_SAMPLE && r->plan->list->size == PD_VARIABLE &&
	       !pd_record_trailing(r).size;
}

bool pd_resync_is_filled(struct pd_resync *r, struct pd_bytes bytes, struct pd_record *record)
{
	*record = (struct pd_record){ .session = r->session };
	read_header(r, bytes, &record->frame);
	record->frame.bytes = bytes;
	return record->frame.desc && pd_resync_charge(r, bytes.size) &&
	       !pd_record_prepare(record) && record->plan && !pd_record_trailing(record).size &&
	       pd_resync_text_ends_well(record);
}

bool pd_resync_trusts(struct pd_resync *r, const struct pd_record *record)
{
	return score_record(r, record) + (adds_up(record) ? ADDS_UP : 0) >= TRUSTED;
}

bool pd_resync_trusts_samples(const struct pd_resync *r, const struct pd_attr *a)
{
	const bool may_have_unknown_id =
		r->session->nr_attrs == 1 && a->nr_ids && a->sample_id_at != PD_NO_OFFSET;

	_Static_assert(IS_WHOLE + IS_FILLED + IS_NEAR + ADDS_UP >= TRUSTED,
		       "a sample's time and size are enough");
	return a->sample->list->size == PD_VARIABLE && a->sample->hot[PD_HOT_TIME] &&
	       !may_have_unknown_id;
}

bool pd_resync_is_trusted(struct pd_resync *r, struct pd_bytes bytes)
{
	struct pd_record record;

	return pd_resync_is_filled(r, bytes, &record) && pd_resync_trusts(r, &record);
}

bool pd_resync_is_credible(struct pd_resync *r, struct pd_bytes bytes)
{
	struct pd_record record;
	uint64_t time;

	if (!pd_resync_is_filled(r, bytes, &record) || !score_record(r, &record))
		return false;
	if (record.frame.type < PD_RECORD_USER_START && r->time && pd_record_time(&record, &time))
		return pd_resync_is_near(time, r->time);
	return record.frame.type == PD_RECORD_SAMPLE || record.plan->list->size != PD_VARIABLE;
}

enum pd_resync_result pd_resync_leads_chain(struct pd_resync *r, struct pd_bytes in, size_t size,
					    enum pd_resync_end end)
{
	struct pd_record record;

	if (!pd_resync_is_filled(r, (struct pd_bytes){ in.data, size }, &record))
		return PD_RESYNC_NONE;
	if (end == PD_RESYNC_CLOSED && size == in.size)
		return PD_RESYNC_FOUND;
	return try_chain(r, in, size, end).result;
}
