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
static void head(struct pd_jsonw *w, const struct pd_tp_event *e)
{
	PD_JSONW_KEY(w, "tracepoint");
	pd_jsonw_char(w, '{');
	PD_JSONW_KEY(w, "system");
	pd_jsonw_string(w, e->system);
	PD_JSONW_KEY(w, "name");
	pd_jsonw_string(w, e->name);
	PD_JSONW_KEY(w, "fields");
	pd_jsonw_char(w, '{');
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

/* Appends the field. False: it is of another kind, or there is no room for it. */
static bool add_field(struct pd_emit *p, const struct pd_tp_field *f)
{
	const bool array = f->kind == PD_TP_INTS;
	const unsigned int width = array ? f->elem_size : f->size, n = numbers_of(f);
	const enum pd_show show = f->is_pointer ? PD_HEX : f->is_signed ? PD_SIGNED : PD_DEC;

	if (!n || (show == PD_HEX && width != 8) || f->offset > INT32_MAX - f->size || f->key_size > PD_EMIT_TEXT / 2 ||
	    p->nr_slots + n > PD_EMIT_SLOTS || p->size + f->key_size + n + 2 > PD_EMIT_TEXT)
		return false;
	pd_emit_add_text(p, f->key, f->key_size);
	if (array)
		pd_emit_add_text(p, "[", 1);
	for (unsigned int i = 0; i < n; i++) {
		if (i)
			pd_emit_add_text(p, ",", 1);
		pd_emit_add_number(p, (int32_t)(f->offset + i * width), width, show);
	}
	if (array)
		pd_emit_add_text(p, "]", 1);
	return true;
}

/* The fields from `first` on that are numbers, and before the very first one the head. */
static COLD void compile(struct pd_emit *p, const struct pd_emit_key *key, const struct pd_tp_event *e, size_t first)
{
	struct pd_emit_scratch s;

	pd_emit_begin(p, key);
	if (!first) {
		pd_emit_scratch_init(&s);
		head(&s.w, e);
		pd_emit_add_scratch(p, &s);
	}
	for (size_t i = first; i < e->nr_fields && !p->is_unusable && add_field(p, &e->fields[i]); i++) {
		p->nr_fields++;
		p->cost += e->fields[i].size + 1;
	}
	pd_emit_end(p);
}

/* NULL: the field at `first` is none of those, or there is no room. */
static const struct pd_emit *program_of(struct pd_json *j, const struct pd_tp_event *e, size_t first)
{
	const struct pd_emit_key key = { .of = &e->fields[first], .what = PD_EMIT_TRACEPOINT };
	struct pd_emit *p = pd_emit_place(j->programs, &key);

	if (!pd_emit_is_for(p, &key))
		compile(p, &key, e, first);
	return p->is_unusable ? NULL : p;
}

/* Writes as many fields as a program has, else one. Returns the next one. */
static size_t write_fields(struct pd_json *j, const struct pd_tp_event *e, size_t i, uint64_t *left)
{
	const struct pd_emit *p = j->raw_data.size >= e->min_size ? program_of(j, e, i) : NULL;

	if (p && p->cost <= *left) {
		*left -= p->cost;
		pd_emit_run(j, p, j->raw_data.data, e->swap);
		if (i || p->nr_fields)
			return i + p->nr_fields;
	} else if (!i) {
		head(&j->w, e);
	}
	j->fields_missing += !pd_tp_decode_field(e, &e->fields[i], j->raw_data, left, &visitor, j);
	return i + 1;
}

void pd_json_tracepoint(struct pd_json *j, const struct pd_tp_event *e)
{
	uint64_t left = pd_tp_allowance(j->raw_data);

	for (size_t i = 0; i < e->nr_fields;)
		i = write_fields(j, e, i, &left);
	pd_jsonw_raw(&j->w, "}}", 2);
}
