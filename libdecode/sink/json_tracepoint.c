/* json_tracepoint.c - the fields of a tracepoint's raw data as JSON: their layout is in the file. */
#include "sink/json.h"

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

/* Steps of a field with a fixed place: a number's, or one for each of a short array's. 0: it is of another kind. */
static unsigned int steps_of(const struct pd_tp_field *f)
{
	if (f->place != PD_TP_FIXED)
		return 0;
	if (f->kind == PD_TP_UNSIGNED || f->kind == PD_TP_SIGNED || f->kind == PD_TP_POINTER)
		return 1;
	if (f->kind != PD_TP_INTS || f->size % f->elem_size || f->size / f->elem_size > SHORT_ARRAY)
		return 0;
	return f->size / f->elem_size;
}

/* False: a key is too long. */
static bool make_steps(struct pd_json_step *s, const struct pd_tp_field *f, unsigned int n)
{
	const bool array = f->kind == PD_TP_INTS;
	const unsigned int width = array ? f->elem_size : f->size;
	const enum pd_show show = f->is_pointer ? PD_HEX : f->is_signed ? PD_SIGNED : PD_DEC;
	char key[PD_JSONW_KEY_ROOM];
	size_t size = f->key_size;

	if (size >= sizeof(key))
		return false;
	memcpy(key, f->key, size);
	if (array)
		key[size++] = '[';
	for (unsigned int i = 0; i < n; i++, size = 1) {
		const struct pd_bytes text = { (const uint8_t *)key, size };

		if (!pd_json_make_step(&s[i], text, f->offset + i * width, width, show))
			return false;
		if (array && i == n - 1)
			pd_json_close_step(&s[i]);
	}
	return true;
}

/* The next part of the fields. False: they end, or there is no room for it. */
static bool make_part(struct pd_json_tp *tp)
{
	const struct pd_tp_event *e = tp->event;
	struct pd_json_tp_part *part = &tp->parts[tp->nr_parts];

	if (tp->done == e->nr_fields || tp->nr_parts == PD_JSON_TP_PARTS)
		return false;
	*part = (struct pd_json_tp_part){ .from = (uint32_t)tp->done };
	while (tp->done < e->nr_fields) {
		const struct pd_tp_field *f = &e->fields[tp->done++];
		const unsigned int n = steps_of(f);

		if (!n || tp->nr_steps + n > PD_JSON_TP_STEPS || !make_steps(&tp->steps[tp->nr_steps], f, n)) {
			part->then = f;
			break;
		}
		tp->nr_steps += n;
		part->nr_steps += n;
		part->used += f->size + 1;
	}
	tp->nr_parts++;
	return true;
}

static struct pd_json_tp *tp_of(struct pd_json *j, const struct pd_tp_event *e)
{
	struct pd_json_tp *tp = &j->tps[((uintptr_t)e >> 6 ^ (uintptr_t)e >> 12) % PD_JSON_TPS];

	if (tp->event == e)
		return tp;
	tp->event = e;
	tp->head_size = tp->nr_parts = tp->nr_steps = tp->done = 0;
	while (make_part(tp))
		;
	return tp;
}

/* The head as it was written for the last record of the event. */
static void kept_head(struct pd_json *j, struct pd_json_tp *tp)
{
	const uint64_t begun = (pd_jsonw_room(&j->w), j->w.flushed);
	char *from = j->w.at;

	if (tp->head_size) {
		for (size_t i = 0; i < tp->head_size; i += PD_JSON_STEP)
			memcpy(from + i, tp->head + i, PD_JSON_STEP);
		j->w.at += tp->head_size;
		return;
	}
	head(j, tp->event);
	if (j->w.flushed != begun || (size_t)(j->w.at - from) > sizeof(tp->head))
		return;
	tp->head_size = (size_t)(j->w.at - from);
	memcpy(tp->head, from, tp->head_size);
}

/* The fields of raw data that hold every fixed part. How many are missing. */
static size_t fields(struct pd_json *j, struct pd_json_tp *tp)
{
	const struct pd_tp_event *e = tp->event;
	const struct pd_bytes raw = j->raw_data;
	struct pd_json_step *step = tp->steps;
	uint64_t left = pd_tp_allowance(raw);
	size_t missing = 0;

	for (const struct pd_json_tp_part *p = tp->parts, *end = p + tp->nr_parts; p < end; p++) {
		if (p->used > left)
			return missing + pd_tp_decode_from(e, p->from, raw, left, &visitor, j);
		left -= p->used;
		pd_jsonw_room(&j->w);
		if (p->nr_steps)
			j->w.at = pd_json_put_steps(j, step, p->nr_steps, j->w.at, raw.data, e->swap);
		step += p->nr_steps;
		if (p->then)
			missing += !pd_tp_decode_field(e, p->then, raw, &left, &visitor, j);
	}
	return missing + pd_tp_decode_from(e, tp->done, raw, left, &visitor, j);
}

void pd_json_tracepoint(struct pd_json *j, const struct pd_tp_event *e)
{
	struct pd_json_tp *tp = tp_of(j, e);

	kept_head(j, tp);
	if (j->raw_data.size >= e->min_size)
		j->fields_missing = fields(j, tp);
	else
		j->fields_missing = pd_tp_decode(e, j->raw_data, &visitor, j);
	pd_jsonw_char(&j->w, '}');
	pd_jsonw_char(&j->w, '}');
}
