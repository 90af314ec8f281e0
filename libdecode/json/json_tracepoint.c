/* json_tracepoint.c - the fields of a tracepoint's raw data as JSON: their layout is in the file. */
#include "json/json.h"

static void key(struct pd_json *j, const struct pd_tp_field *f)
{
	if (f->key_size <= PD_JSONW_SLACK)
		pd_jsonw_key(&j->w, f->key, f->key_size);
}

static inline char *put(char *at, const struct pd_tp_field *f, uint64_t v)
{
	if (f->is_pointer)
		return pd_write_address(at, v);
	if (f->is_signed && (int64_t)v < 0) {
		*at++ = '-';
		v = -v;
	}
	return pd_write_decimal(at, v);
}

static void number(void *ctx, const struct pd_tp_field *f, uint64_t v)
{
	struct pd_json *j = ctx;

	key(j, f);
	if (f->kind == PD_TP_POINTER)
		pd_jsonw_address(&j->w, v);
	else if (f->kind == PD_TP_SIGNED)
		pd_jsonw_signed(&j->w, (int64_t)v);
	else
		pd_jsonw_unsigned(&j->w, v);
}

static void numbers(void *ctx, const struct pd_tp_field *f, const struct pd_numbers *n)
{
	struct pd_json *j = ctx;

	key(j, f);
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i < n->count; i++) {
		pd_jsonw_room(&j->w);
		*j->w.at = ',';
		j->w.at = put(j->w.at + (i != 0), f, pd_tp_element(f, n, i));
	}
	pd_jsonw_char(&j->w, ']');
}

static void text(void *ctx, const struct pd_tp_field *f, struct pd_bytes bytes)
{
	struct pd_json *j = ctx;

	key(j, f);
	if (pd_jsonw_text(&j->w, bytes) == PD_UTF8)
		return;
	pd_json_key_with(j, f->name, "_hex");
	pd_jsonw_hex(&j->w, bytes);
}

static void bytes(void *ctx, const struct pd_tp_field *f, struct pd_bytes span)
{
	struct pd_json *j = ctx;

	key(j, f);
	pd_jsonw_hex(&j->w, span);
}

static const struct pd_tp_visitor visitor = { number, numbers, text, bytes, NULL };

/* From the key to the fields. */
static void head(struct pd_json *j, const struct pd_tp_event *e)
{
	PD_JSONW_KEY(&j->w, "tracepoint");
	pd_jsonw_char(&j->w, '{');
	PD_JSONW_KEY(&j->w, "system");
	pd_jsonw_string(&j->w, e->system);
	PD_JSONW_KEY(&j->w, "name");
	pd_jsonw_string(&j->w, e->name);
	PD_JSONW_KEY(&j->w, "fields");
	pd_jsonw_char(&j->w, '{');
}

#define SHORT_ARRAY 8

/* Numbers of a field with a fixed place: one, or a short array's. 0: it is of another kind. */
static unsigned int numbers_of(const struct pd_tp_field *f)
{
	if (f->place != PD_TP_FIXED)
		return 0;
	if (f->kind == PD_TP_UNSIGNED || f->kind == PD_TP_SIGNED || f->kind == PD_TP_POINTER)
		return 1;
	if (f->kind != PD_TP_INTS || f->size % f->elem_size || f->size / f->elem_size > SHORT_ARRAY)
		return 0;
	return f->size / f->elem_size;
}

/* False: it is of another kind, or there is no room for it. */
static bool add_field(struct pd_json_form *form, const struct pd_tp_field *f)
{
	const bool array = f->kind == PD_TP_INTS;
	const unsigned int width = array ? f->elem_size : f->size, n = numbers_of(f);
	const enum pd_show show = f->is_pointer ? PD_HEX : f->is_signed ? PD_SIGNED : PD_DEC;
	const struct pd_json_form without = *form;

	if (!n || (show == PD_HEX && width != 8) || f->offset > INT32_MAX - f->size)
		return false;
	pd_json_form_text(form, f->key, f->key_size);
	if (array)
		pd_json_form_text(form, "[", 1);
	for (unsigned int i = 0; i < n; i++) {
		if (i)
			pd_json_form_text(form, ",", 1);
		pd_json_form_number(form, (int32_t)(f->offset + i * width), width, show);
	}
	if (array)
		pd_json_form_text(form, "]", 1);
	if (pd_json_form_is_good(form))
		return true;
	*form = without;
	return false;
}

/* The next part of the fields. False: they end, or there is no room for it. */
static bool make_part(struct pd_json_tp *tp)
{
	const struct pd_tp_event *e = tp->event;
	struct pd_json_tp_part *part = &tp->parts[tp->nr_parts];
	struct pd_json_form *form = &part->form;

	if (tp->done == e->nr_fields || tp->nr_parts == PD_JSON_TP_PARTS)
		return false;
	if (tp->nr_parts)	/* the first one has the head already */
		pd_json_form_init(form, tp->blanks + tp->nr_blanks, PD_JSON_TP_BLANKS - tp->nr_blanks,
				  tp->text + tp->used, PD_JSON_TP_TEXT - tp->used);
	part->from = (uint32_t)tp->done;
	part->used = 0;
	part->then = NULL;
	while (tp->done < e->nr_fields) {
		const struct pd_tp_field *f = &e->fields[tp->done++];

		if (!add_field(form, f)) {
			part->then = f;
			break;
		}
		part->used += f->size + 1;
	}
	tp->nr_blanks += form->nr_blanks;
	tp->used += form->size;
	tp->nr_parts++;
	return true;
}

/* The head is text of the first part. Without parts when it is too long. */
static void make_parts(struct pd_json *j, struct pd_json_tp *tp)
{
	struct pd_json_form *first = &tp->parts[0].form;
	char *const from = (pd_jsonw_room_twice(&j->w), j->w.at);

	tp->nr_parts = tp->nr_blanks = tp->used = tp->done = 0;
	pd_json_form_init(first, tp->blanks, PD_JSON_TP_BLANKS, tp->text, PD_JSON_TP_TEXT);
	*j->w.at++ = ' ';	/* whatever lies before it, the head begins with a comma */
	head(j, tp->event);
	pd_json_form_text(first, from + 1, (size_t)(j->w.at - from - 1));
	j->w.at = from;
	while (pd_json_form_is_good(first) && make_part(tp))
		;
}

static struct pd_json_tp *tp_of(struct pd_json *j, const struct pd_tp_event *e)
{
	struct pd_json_tp *tp = &j->tps[((uintptr_t)e >> 6 ^ (uintptr_t)e >> 12) % PD_JSON_TPS];

	if (tp->event == e)
		return tp;
	tp->event = e;
	make_parts(j, tp);
	return tp;
}

/* All from the head on, of raw data that hold every fixed part. How many fields are missing. */
static size_t parts(struct pd_json *j, struct pd_json_tp *tp)
{
	const struct pd_tp_event *e = tp->event;
	const struct pd_bytes raw = j->raw_data;
	uint64_t left = pd_tp_allowance(raw);
	size_t missing = 0;

	for (struct pd_json_tp_part *p = tp->parts, *end = p + tp->nr_parts; p < end; p++) {
		if (p->used > left)
			return missing + pd_tp_decode_from(e, p->from, raw, left, &visitor, j);
		left -= p->used;
		pd_jsonw_room_twice(&j->w);
		if (p->form.size) {
			const struct pd_json_joint joint = pd_json_joint(j->w.at);

			j->w.at = pd_json_fill(j, &p->form, joint.at, raw.data, e->swap);
			*joint.at = joint.first;
		}
		if (p->then)
			missing += !pd_tp_decode_field(e, p->then, raw, &left, &visitor, j);
	}
	return missing + pd_tp_decode_from(e, tp->done, raw, left, &visitor, j);
}

void pd_json_tracepoint(struct pd_json *j, const struct pd_tp_event *e)
{
	struct pd_json_tp *tp = tp_of(j, e);

	if (j->raw_data.size >= e->min_size && tp->nr_parts && tp->parts[0].used <= pd_tp_allowance(j->raw_data)) {
		j->fields_missing = parts(j, tp);
	} else {
		head(j, e);
		j->fields_missing = pd_tp_decode(e, j->raw_data, &visitor, j);
	}
	pd_jsonw_raw(&j->w, "}}", 2);
}
