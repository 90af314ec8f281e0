/* record.c - finds the event, the plans and the parts of a record, and gets single fields. */
#include "stream/record.h"

#include <string.h>

#include "layout/container.h"
#include "stream/record_refs.h"
#include "stream/resync.h"

static void set_error(struct pd_record *r, enum pd_code code, const char *field, uint64_t want,
		      uint64_t have)
{
	r->error = (struct pd_error){
		.code = code, .severity = PD_DAMAGED, .offset = r->frame.offset,
		.record_type = r->frame.type,
		.record = r->frame.desc ? r->frame.desc->name : NULL, .field = field,
		.file = r->file,
		.want = want, .have = have,
	};
}

static inline void measure_body(struct pd_record *r, enum pd_text_end text_end)
{
	if (!pd_measure_fixed(r->plan, r->body, &r->extent))
		pd_measure(r->plan, r->body, r->frame.misc, r->session->swap, text_end, &r->extent);
}

/* Ends the body at the event's sample_id, which is at that offset of the record. */
static void split_trailer(struct pd_record *r, const struct pd_attr *a, size_t at)
{
	r->body.size = at - PD_RECORD_HEADER_SIZE;
	r->trailer = a->trailer;
	r->trailer_bytes = (struct pd_bytes){ r->body.data + r->body.size, a->trailer_size };
}

/* Returns whether bytes between the fields and sample_id could be those after it. Such a record is
 * shown without a sample_id, so that the JSON has one meaning. */
static bool is_ambiguous(const struct pd_record *r, const struct pd_attr *a)
{
	const size_t between = r->body.size - r->extent.end;

	return r->frame.desc->oversized && between &&
	       pd_session_is_followed(r->session, a, r->trailer_bytes, between);
}

/* Records that perf synthesized for what existed before the recording may lack the trailer that the
 * event asks for. */
static void measure_with_trailer(struct pd_record *r, const struct pd_attr *a)
{
	struct pd_bytes whole = r->body;

	if (!a || !a->trailer_size || whole.size < a->trailer_size ||
	    r->frame.state != PD_FRAME_WHOLE) {
		measure_body(r, PD_TEXT_TO_END);
		return;
	}
	split_trailer(r, a,
		      pd_session_trailer_at(r->session, a, r->frame.type, r->frame.bytes));
	measure_body(r, PD_TEXT_TO_END);
	if (r->extent.code == PD_OK && !is_ambiguous(r, a))
		return;
	r->body = whole;
	r->trailer = NULL;
	r->trailer_bytes = (struct pd_bytes){ NULL, 0 };
	measure_body(r, PD_TEXT_TO_END);
}

/* perf inject adds a trailer to some of perf's own records. */
static void measure_with_optional_trailer(struct pd_record *r)
{
	const struct pd_session *s = r->session;
	const struct pd_attr *a = s->nr_attrs ? s->attrs[0] : NULL;

	if (a && a->trailer_size && r->body.size >= a->trailer_size &&
	    r->frame.state == PD_FRAME_WHOLE) {
		measure_body(r, PD_TEXT_ALIGNED);
		if (r->extent.code == PD_OK && r->body.size - r->extent.end == a->trailer_size &&
		    !pd_all_zero(pd_record_trailing(r)))
			split_trailer(r, a, r->frame.bytes.size - a->trailer_size);
	}
	measure_body(r, PD_TEXT_TO_END);
}

/* Reads a number for which pd_op_is_fixed() holds. */
static inline bool load_fixed(const struct pd_op *op, struct pd_bytes bytes, enum pd_swap swap,
			      uint64_t *out)
{
	struct pd_cursor c = pd_cursor(bytes, swap);

	if (!pd_take(&c, op->offset) || !pd_take_number(&c, op->width, out))
		return false;
	if (op->field->show == PD_SIGNED)
		*out = pd_sign_extend(*out, op->width);
	return true;
}

/* Reads the field of that name if the plan has it at a fixed offset. */
static bool fixed_number(const struct pd_plan *plan, const char *name, struct pd_bytes bytes,
			 enum pd_swap swap, uint64_t *out)
{
	const struct pd_op *op = plan ? pd_plan_find(plan, name) : NULL;

	return op && pd_op_is_fixed(op) && load_fixed(op, bytes, swap, out);
}

/* Without its event, a record's misc is taken as it is. */
static inline uint16_t layout_misc(const struct pd_record *r)
{
	return pd_layout_misc(r->frame.desc, r->frame.misc, r->attr ? r->attr->flags : UINT64_MAX,
			      r->body, r->session->swap);
}

static inline const struct pd_plan *choose_plan(struct pd_record *r, const struct pd_attr *layout)
{
	const struct pd_record_desc *d = r->frame.desc;

	if (!d || d->opaque)
		return NULL;
	if (d->type == PD_RECORD_SAMPLE)
		return layout ? layout->sample : NULL;
	if (d->type == PD_RECORD_READ)
		return layout ? layout->read : NULL;
	return pd_session_record_plan(r->session, d, layout_misc(r));
}

/* Measures the contents of a HEADER_FEATURE. Sets *end to where they end in the body, 0 if that is
 * not known. */
static void measure_feature(const struct pd_record *r, struct pd_extent_of *extent, size_t *end)
{
	const struct pd_op *op = pd_plan_find(r->plan, "feature");
	uint64_t id;

	*extent = (struct pd_extent_of){ .code = PD_OK };
	*end = 0;
	if (!op || r->body.size < op->offset ||
	    !fixed_number(r->plan, "feat_id", r->body, r->session->swap, &id) ||
	    pd_session_check_feature(
		    r->session, id < PD_FEATURE_BITS ? (uint32_t)id : 0,
		    (struct pd_bytes){ r->body.data + op->offset, r->body.size - op->offset },
		    extent) != PD_OK)
		return;
	*end = extent->end ? op->offset + extent->end : 0;
}

static void check_feature(struct pd_record *r)
{
	struct pd_extent_of extent;
	size_t end;

	measure_feature(r, &extent, &end);
	if (extent.code != PD_OK)
		set_error(r, extent.code, extent.field->name, extent.want, extent.have);
}

static inline void take_event(struct pd_record *r, struct pd_attr *event)
{
	if (event->named_at != r->session->updates)
		pd_session_name_event(r->session, event);
	r->attr = event;
}

/* Sets *out to the record's event, or to one that has the same layout. */
static inline enum pd_found find_event(struct pd_record *r, struct pd_attr **out)
{
	struct pd_session *s = r->session;
	enum pd_found found = PD_FOUND;

	if (s->nr_attrs == 1 && r->frame.type < PD_RECORD_USER_START)
		*out = s->attrs[0];
	else
		found = pd_session_attr_of(s, r->frame.type, r->frame.bytes, out);
	if (found == PD_FOUND) {
		take_event(r, *out);
	} else if (found == PD_NOT_FOUND && r->frame.type == PD_RECORD_SAMPLE) {
		*out = NULL;
	}
	return found;
}

/* Checks the body against its plan, and splits off the trailer if there is one. */
static void measure_parts(struct pd_record *r, const struct pd_attr *layout)
{
	if (r->frame.desc->trailer == PD_TRAILER)
		measure_with_trailer(r, layout);
	else if (r->frame.desc->trailer == PD_TRAILER_LEFT)
		measure_with_optional_trailer(r);
	else
		measure_body(r, PD_TEXT_TO_END);
}

static inline struct pd_bytes after_header(const struct pd_record *r)
{
	return (struct pd_bytes){ r->frame.bytes.data + PD_RECORD_HEADER_SIZE,
				  r->frame.bytes.size - PD_RECORD_HEADER_SIZE };
}

/* Fast path for samples of the only event, with the same result as the slow one. Returns false if
 * the record must be checked further. */
static inline bool prepare_hot(struct pd_record *r)
{
	const struct pd_session *s = r->session;
	const struct pd_attr *a;

	if (r->frame.type != PD_RECORD_SAMPLE || s->nr_attrs != 1 ||
	    r->frame.state == PD_FRAME_SKIPPED)
		return false;
	a = s->attrs[0];
	if (a->named_at != s->updates || !a->sample)
		return false;
	r->attr = a;
	r->body = after_header(r);
	r->plan = a->sample;
	measure_body(r, PD_TEXT_TO_END);
	return r->extent.code == PD_OK && r->extent.end == r->body.size;
}

/* Returns whether whole records of known types fill the bytes. */
static bool are_records(const struct pd_record *r, struct pd_bytes bytes)
{
	const enum pd_swap swap = r->session->swap;
	size_t at = 0;

	while (bytes.size - at >= PD_RECORD_HEADER_SIZE) {
		const struct pd_record_header h = pd_record_header_load(bytes.data + at, swap);

		if (!pd_resync_may_begin(h.type, h.size, pd_record_desc(h.type)) ||
		    h.size > bytes.size - at)
			return false;
		at += h.size;
	}
	return at && at == bytes.size;
}

/* Finds the records that fill the rest of this one: returns where they begin, at or after `end`, or
 * the record's size if there are none. Skips the zeros that perf pads names with. */
static size_t find_covered(const struct pd_record *r, size_t end)
{
	const struct pd_bytes whole = r->frame.bytes;

	while (whole.size - end >= PD_RECORD_HEADER_SIZE &&
	       pd_all_zero((struct pd_bytes){ whole.data + end, 8 }))
		end += 8;
	return are_records(r, (struct pd_bytes){ whole.data + end, whole.size - end }) ? end :
											 whole.size;
}

/* Returns where the record's own fields end, without a trailer; 0 if they fill it. */
static size_t end_of_fields(const struct pd_record *r)
{
	struct pd_extent_of own;
	size_t end;

	if (r->plan && r->frame.state == PD_FRAME_WHOLE &&
	    r->frame.type == PD_RECORD_HEADER_FEATURE) {
		measure_feature(r, &own, &end);
		return end ? PD_RECORD_HEADER_SIZE + end : 0;
	}
	if (!r->plan || r->frame.state != PD_FRAME_WHOLE || r->extent.code != PD_OK ||
	    (!pd_record_trailing(r).size && r->plan->list->size != PD_VARIABLE))
		return 0;
	pd_measure(r->plan, after_header(r), r->frame.misc, r->session->swap, PD_TEXT_ALIGNED,
		   &own);
	return own.code == PD_OK ? PD_RECORD_HEADER_SIZE + own.end : 0;
}

/* Returns the size of the trailer that the record has or, by its event, should have. */
static size_t own_trailer(const struct pd_record *r)
{
	const struct pd_session *s = r->session;
	const struct pd_attr *a = r->attr ? r->attr : s->nr_attrs ? s->attrs[0] : NULL;

	if (r->frame.desc && r->frame.desc->trailer == PD_TRAILER && a)
		return a->trailer_size;
	return r->trailer_bytes.size;
}

/* Returns whether both are samples and the one at `at`, inside this one, is older: what was in the
 * kernel's buffer before, where it stated too large a size. */
static bool covers_older(const struct pd_record *r, size_t at)
{
	const struct pd_bytes whole = r->frame.bytes,
			      inside = { whole.data + at, whole.size - at };
	struct pd_session *s = r->session;
	uint64_t time, before;
	struct pd_attr *a;

	return r->frame.type == PD_RECORD_SAMPLE && r->attr && at < whole.size &&
	       pd_record_header_load(inside.data, s->swap).type == PD_RECORD_SAMPLE &&
	       pd_session_attr_of(s, PD_RECORD_SAMPLE, inside, &a) == PD_FOUND &&
	       pd_session_sample_time(s, r->attr, whole, &time) &&
	       pd_session_sample_time(s, a, inside, &before) && before &&
	       !pd_resync_is_later(before, time);
}

size_t pd_record_own_size(const struct pd_record *r)
{
	const size_t size = r->frame.bytes.size, end = end_of_fields(r),
		     with_trailer = end + own_trailer(r);
	size_t own = size;

	if (!end || end >= size || with_trailer == size)
		return size;
	if (with_trailer < size)
		own = find_covered(r, with_trailer);
	if (own == size)
		own = find_covered(r, end);
	return covers_older(r, own) ? size : own;
}

/* Reports bytes after the fields of a sample, which has no more than its event selects. Newer
 * kernels may append fields to other records. */
static void check_rest(struct pd_record *r)
{
	const size_t rest = r->body.size - r->extent.end;

	if (rest && r->frame.type == PD_RECORD_SAMPLE && r->attr && r->attr->has_known_layout)
		set_error(r, PD_E_TRAILING, NULL, 0, rest);
}

static void check_refs(struct pd_record *r)
{
	const char *field;
	const enum pd_code code = r->frame.state == PD_FRAME_WHOLE ?
		pd_record_check_refs(r, &field) : PD_OK;

	if (code != PD_OK)
		set_error(r, code, field, 0, r->body.size - r->extent.end);
}

static inline void clear_trailer(struct pd_record *r)
{
	r->trailer = NULL;
	r->trailer_bytes = (struct pd_bytes){ NULL, 0 };
	r->error.code = PD_OK;
}

static void clear_parts(struct pd_record *r)
{
	r->attr = NULL;
	r->extent.end = r->extent.nr_ops = r->extent.variant = 0;
	r->extent.code = PD_OK;
}

/* Prepares a record whose event, or another one of the same layout, was found. Returns 0, or -1
 * without memory. */
static int prepare_found(struct pd_record *r, enum pd_found found, const struct pd_attr *layout)
{
	const struct pd_record_desc *d = r->frame.desc;
	size_t own;

	r->found = found;
	r->layout = layout;
	r->plan = choose_plan(r, layout);
	if (!r->plan) {
		if (d && (d->type == PD_RECORD_SAMPLE || d->type == PD_RECORD_READ))
			set_error(r, PD_E_NO_ATTR, NULL, 0, 0);
		return d && !d->opaque && r->frame.type >= PD_RECORD_USER_START ? -1 : 0;
	}
	measure_parts(r, layout);
	own = pd_record_own_size(r);
	if (d->type == PD_RECORD_HEADER_FEATURE)
		check_feature(r);
	if (r->extent.code != PD_OK)
		set_error(r, r->extent.code, r->extent.field->name, r->extent.want, r->extent.have);
	else if (own < r->frame.bytes.size)
		set_error(r, PD_E_SIZE, "size", own, r->frame.bytes.size);
	else if (found == PD_FOUND_LAYOUT ||
		 (found == PD_NOT_FOUND && r->trailer && r->frame.type < PD_RECORD_USER_START))
		set_error(r, PD_E_NO_ATTR, NULL, 0, 0);
	else if (r->frame.type >= PD_RECORD_USER_START)
		check_refs(r);
	else
		check_rest(r);
	return 0;
}

int pd_record_prepare(struct pd_record *r)
{
	struct pd_attr *layout;
	enum pd_found found;

	clear_trailer(r);
	if (prepare_hot(r))
		return 0;
	clear_parts(r);
	if (r->frame.state == PD_FRAME_SKIPPED) {
		r->plan = NULL;
		r->body = r->frame.bytes;
		return 0;
	}
	r->body = after_header(r);
	found = find_event(r, &layout);
	return prepare_found(r, found, layout);
}

int pd_record_prepare_again(struct pd_record *r, enum pd_found found, const struct pd_attr *layout)
{
	clear_trailer(r);
	clear_parts(r);
	r->body = after_header(r);
	if (found == PD_FOUND)
		take_event(r, r->session->attrs[layout->index]);
	return prepare_found(r, found, layout);
}

uint32_t pd_record_type(const struct pd_record *r)
{
	return r ? r->frame.type : 0;
}

const char *pd_record_name(const struct pd_record *r)
{
	if (r && r->frame.state == PD_FRAME_SKIPPED)
		return "SKIPPED";
	return r && r->frame.desc ? r->frame.desc->name : "UNKNOWN";
}

uint16_t pd_record_misc(const struct pd_record *r)
{
	return r ? r->frame.misc : 0;
}

uint64_t pd_record_offset(const struct pd_record *r)
{
	return r ? r->frame.offset : 0;
}

struct pd_bytes pd_record_bytes(const struct pd_record *r)
{
	return r ? r->frame.bytes : (struct pd_bytes){ NULL, 0 };
}

const struct pd_attr *pd_record_attr(const struct pd_record *r)
{
	return r ? r->attr : NULL;
}

const struct pd_error *pd_record_error(const struct pd_record *r)
{
	return r && r->error.code != PD_OK ? &r->error : NULL;
}

uint64_t pd_record_payload_size(const struct pd_record *r)
{
	return r ? r->frame.payload : 0;
}

/* The search for one field by a visitor. */
struct search {
	const char *name;
	bool found;
	enum { WANT_NUMBER, WANT_NUMBERS, WANT_TEXT } want;
	unsigned int depth, on_path;	/* objects entered outside the path, and along it */
	uint64_t number;
	struct pd_numbers numbers;
	struct pd_bytes bytes;
};

static bool is_wanted(const struct search *s, const struct pd_field *f, unsigned int want)
{
	return s->want == want && !s->depth && !s->found && s->name &&
	       strcmp(f->name, s->name) == 0;
}

static void search_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct search *s = ctx;

	if (!is_wanted(s, f, WANT_NUMBER))
		return;
	s->number = value;
	s->found = true;
}

static void search_numbers(void *ctx, const struct pd_field *f, const struct pd_numbers *n)
{
	struct search *s = ctx;

	if (!is_wanted(s, f, WANT_NUMBERS))
		return;
	s->numbers = *n;
	s->found = true;
}

static void search_bytes(void *ctx, const struct pd_field *f, struct pd_bytes bytes)
{
	struct search *s = ctx;

	if (!is_wanted(s, f, WANT_TEXT))
		return;
	s->bytes = bytes;
	s->found = true;
}

static void search_enter(void *ctx, const struct pd_field *f)
{
	struct search *s = ctx;

	/* enters only the object that the path "raw.data" names */
	if (f && !s->depth && s->name) {
		size_t n = strlen(f->name);

		if (strncmp(s->name, f->name, n) == 0 && s->name[n] == '.') {
			s->name += n + 1;
			s->on_path++;
			return;
		}
	}
	s->depth++;
}

static void search_leave(void *ctx, const struct pd_field *f)
{
	struct search *s = ctx;

	(void)f;
	if (s->depth)
		s->depth--;
	else if (s->on_path)
		s->name = NULL;		/* the object on the path had no such field */
}

static bool search_field(const struct pd_record *r, struct search *s)
{
	static const struct pd_visitor v = {
		.size = sizeof(v), .number = search_number, .numbers = search_numbers,
		.text = search_bytes,
		.bytes = search_bytes, .enter = search_enter, .leave = search_leave,
	};

	pd_record_visit(r, &v, s);
	return s->found;
}

bool pd_record_get_number(const struct pd_record *r, const char *name, uint64_t *out)
{
	struct search s = { .name = name, .want = WANT_NUMBER };
	uint64_t unused;

	if (!r || !name)
		return false;
	out = out ? out : &unused;
	if (fixed_number(r->plan, name, r->body, r->session->swap, out))
		return true;
	if (!r->plan || !search_field(r, &s))
		return false;
	*out = s.number;
	return true;
}

bool pd_record_get_numbers(const struct pd_record *r, const char *name, struct pd_numbers *out)
{
	struct search s = { .name = name, .want = WANT_NUMBERS };

	if (!r || !name || !r->plan || !search_field(r, &s))
		return false;
	if (out)
		*out = s.numbers;
	return true;
}

bool pd_record_get_text(const struct pd_record *r, const char *name, struct pd_bytes *out)
{
	struct search s = { .name = name, .want = WANT_TEXT };

	if (!r || !name || !r->plan || !search_field(r, &s))
		return false;
	if (out)
		*out = s.bytes;
	return true;
}

bool pd_record_time(const struct pd_record *r, uint64_t *time)
{
	uint64_t unused;

	return r && pd_record_hot_time(r, time ? time : &unused);
}

static const struct pd_field sample_id = STRUCT(sample_id, "", .fields = pd_sample_id_fields);

void pd_record_visit_trailer(const struct pd_record *r, const struct pd_visitor *v, void *ctx)
{
	struct pd_extent_of all;

	pd_measure(r->trailer, r->trailer_bytes, 0, r->session->swap, PD_TEXT_TO_END, &all);
	if (v->enter)
		v->enter(ctx, &sample_id);
	pd_visit(r->trailer, r->trailer_bytes, 0, r->session->swap, &all, v, ctx);
	if (v->leave)
		v->leave(ctx, &sample_id);
}

void pd_record_visit(const struct pd_record *r, const struct pd_visitor *v, void *ctx)
{
	struct pd_visitor room;

	if (!r || !v)
		return;
	v = pd_visitor_of(v, &room);
	if (r->plan)
		pd_visit(r->plan, r->body, r->frame.misc, r->session->swap, &r->extent, v, ctx);
	if (r->trailer)
		pd_record_visit_trailer(r, v, ctx);
}
