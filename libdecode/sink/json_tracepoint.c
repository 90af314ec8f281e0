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

static bool is_number(const struct pd_tp_field *f)
{
	return f->place == PD_TP_FIXED && (f->kind == PD_TP_UNSIGNED || f->kind == PD_TP_SIGNED || f->kind == PD_TP_POINTER);
}

static struct pd_json_tp *tp_of(struct pd_json *j, const struct pd_tp_event *e)
{
	struct pd_json_tp *tp = &j->tps[((uintptr_t)e >> 6 ^ (uintptr_t)e >> 12) % PD_JSON_TPS];

	if (tp->event == e)
		return tp;
	tp->event = e;
	tp->head_size = tp->used = 0;
	for (tp->nr_steps = 0; tp->nr_steps < e->nr_fields && tp->nr_steps < PD_JSON_STEPS; tp->nr_steps++) {
		const struct pd_tp_field *f = &e->fields[tp->nr_steps];
		const enum pd_show show = f->kind == PD_TP_POINTER ? PD_HEX : f->kind == PD_TP_SIGNED ? PD_SIGNED : PD_DEC;

		if (!is_number(f) ||
		    !pd_json_make_step(&tp->steps[tp->nr_steps], (struct pd_bytes){ (const uint8_t *)f->key, f->key_size },
				       f->offset, f->size, show))
			break;
		tp->used += f->size + 1;
	}
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

void pd_json_tracepoint(struct pd_json *j, const struct pd_tp_event *e)
{
	static const struct pd_tp_visitor v = { number, numbers, text, bytes, NULL };
	struct pd_json_tp *tp = tp_of(j, e);
	const struct pd_bytes raw = j->raw_data;

	kept_head(j, tp);
	if (raw.size >= e->min_size && tp->used <= 4 * (uint64_t)raw.size) {
		pd_jsonw_room(&j->w);
		if (tp->nr_steps)
			j->w.at = pd_json_put_steps(j, tp->steps, tp->nr_steps, j->w.at, raw.data, e->swap);
		j->fields_missing = pd_tp_decode_from(e, tp->nr_steps, tp->used, raw, &v, j);
	} else {
		j->fields_missing = pd_tp_decode(e, raw, &v, j);
	}
	pd_jsonw_char(&j->w, '}');
	pd_jsonw_char(&j->w, '}');
}
