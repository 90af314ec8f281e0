/* json_visit.c - writes fields as JSON: one function for each way to show a row. */
#include "json/json.h"

#include "layout/names_tables.h"

void pd_json_key_with(struct pd_json *j, const char *name, const char *suffix)
{
	pd_jsonw_comma(&j->w);
	pd_jsonw_char(&j->w, '"');
	pd_jsonw_raw(&j->w, name, strlen(name));
	pd_jsonw_raw(&j->w, suffix, strlen(suffix));
	pd_jsonw_raw(&j->w, "\":", 2);
}

void pd_json_name(struct pd_json *j, const struct pd_name *names, uint64_t v)
{
	const char *name = pd_name_of(names, v);
	char number[25];
	uint64_t other;

	if (name) {
		pd_jsonw_room(&j->w);
		*j->w.at++ = '"';
		pd_jsonw_raw(&j->w, name, strlen(name));
		*j->w.at++ = '"';
		return;
	}
	*pd_write_decimal(number, v) = '\0';
	if (names->name && pd_value_of(names, number, &other) == 0) {
		/* The number is the name of another value, as 32 is that of ABI 1: write hex. */
		pd_jsonw_address(&j->w, v);
		return;
	}
	pd_jsonw_char(&j->w, '"');
	pd_jsonw_raw(&j->w, number, strlen(number));
	pd_jsonw_char(&j->w, '"');
}

/* The names of a table fit in PD_JSONW_SLACK bytes. */
static void write_flag_names(struct pd_json *j, const struct pd_name *names, uint64_t v)
{
	char *at = (pd_jsonw_room(&j->w), j->w.at);

	*at++ = '[';
	for (; names->name; names++) {
		size_t size;

		if (!names->value || (v & names->value) != names->value)
			continue;
		size = strlen(names->name);
		*at = ',';
		at += at[-1] != '[';
		*at++ = '"';
		memcpy(at, names->name, size);
		at += size;
		*at++ = '"';
	}
	*at++ = ']';
	j->w.at = at;
}

static void write_bit_field(struct pd_json *j, const struct pd_bits *b, uint64_t word)
{
	uint64_t v = word >> b->shift & ((b->width == 64 ? 0 : 1ull << b->width) - 1);

	if (b->show == PD_BIT_RESERVED && !v)
		return;
	pd_jsonw_padded_key(&j->w, b->key, b->key_size);
	switch (b->show) {
	case PD_BIT_ENUM:
		pd_json_name(j, b->names, v);
		break;
	case PD_BIT_LIST:
		write_flag_names(j, b->names, v);
		break;
	case PD_BIT_ENUM_LIST:
		pd_jsonw_char(&j->w, '[');
		if (v)
			pd_json_name(j, b->names, v);
		pd_jsonw_char(&j->w, ']');
		break;
	default:
		pd_jsonw_unsigned(&j->w, v);
		break;
	}
}

static void write_bit_fields(struct pd_json *j, const struct pd_field *f, uint64_t v)
{
	for (const struct pd_bits *b = f->bits; b && b->name; b++)
		if (b->show != PD_BIT_RESERVED || f->show != PD_BITS_RAW)
			write_bit_field(j, b, v);
}

static void write_bits_object(struct pd_json *j, const struct pd_field *f, uint64_t v)
{
	pd_json_key(j, f);
	pd_jsonw_char(&j->w, '{');
	if (f->show == PD_BITS_RAW) {
		PD_JSONW_KEY(&j->w, "raw");
		pd_jsonw_unsigned(&j->w, v);
	}
	write_bit_fields(j, f, v);
	pd_jsonw_char(&j->w, '}');
}

static void write_flags(struct pd_json *j, const struct pd_field *f, uint64_t v)
{
	pd_json_key(j, f);
	pd_jsonw_char(&j->w, '{');
	PD_JSONW_KEY(&j->w, "raw");
	pd_jsonw_unsigned(&j->w, v);
	PD_JSONW_KEY(&j->w, "names");
	write_flag_names(j, f->names, v);
	pd_jsonw_char(&j->w, '}');
	write_bit_fields(j, f, v);
}

static void write_double(struct pd_json *j, const struct pd_field *f, uint64_t v)
{
	uint8_t bytes[8];
	double d;

	memcpy(&d, &v, sizeof(d));
	pd_json_key(j, f);
	pd_jsonw_double(&j->w, d);
	if (d - d == 0)
		return;
	/* JSON has no infinity and NaN: write the bits, most significant first */
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(v >> (56 - 8 * i));
	pd_json_key_with(j, f->name, "_hex");
	pd_jsonw_hex(&j->w, (struct pd_bytes){ bytes, sizeof(bytes) });
}

/* Writes the name of the event that has the id. */
static void write_event_of(struct pd_json *j, uint64_t id)
{
	const struct pd_attr *a = pd_session_by_id(j->session, id);
	char buf[PD_IMPLIED_NAME_MAX];

	if (!a)
		return;
	PD_JSONW_KEY(&j->w, "event");
	pd_jsonw_text(&j->w, pd_session_event_name(j->session, a, buf));
}

static void on_number(void *ctx, const struct pd_field *f, uint64_t v)
{
	struct pd_json *j = ctx;

	switch (f->show) {
	case PD_SIGNED:
		pd_json_key(j, f);
		pd_jsonw_signed(&j->w, (int64_t)v);
		break;
	case PD_HEX:
		pd_json_key(j, f);
		pd_jsonw_address(&j->w, v);
		break;
	case PD_ENUM:
	case PD_ORDER:
		pd_json_key(j, f);
		pd_json_name(j, f->names, v);
		break;
	case PD_FLAGS:
		write_flags(j, f, v);
		break;
	case PD_FLOAT:
		write_double(j, f, v);
		break;
	case PD_BITS:
		write_bit_fields(j, f, v);
		break;
	case PD_BITS_OBJECT:
	case PD_BITS_RAW:
		write_bits_object(j, f, v);
		break;
	default:
		pd_json_key(j, f);
		pd_jsonw_unsigned(&j->w, v);
		if (pd_json_has_utc(j, f))
			pd_json_utc(j, v);
		if (f->names_event)
			write_event_of(j, v);
		break;
	}
}

static void on_text(void *ctx, const struct pd_field *f, struct pd_bytes text)
{
	struct pd_json *j = ctx;

	pd_json_key(j, f);
	if (pd_jsonw_text(&j->w, text) == PD_UTF8)
		return;
	if (!f->key_size) {
		j->not_utf8 = true;
		return;
	}
	pd_json_key_with(j, f->name, "_hex");
	pd_jsonw_hex(&j->w, text);
}

static void write_feature_object(struct pd_json *j, const struct pd_field *f,
				 struct pd_bytes section)
{
	uint64_t id = 0;

	pd_record_get_number(j->record, "feat_id", &id);
	pd_json_key(j, f);
	pd_jsonw_char(&j->w, '{');
	pd_json_feature(j, id, section);
	pd_jsonw_char(&j->w, '}');
}

static void on_bytes(void *ctx, const struct pd_field *f, struct pd_bytes bytes)
{
	struct pd_json *j = ctx;

	if (f->kind == PD_FEATURE) {
		write_feature_object(j, f, bytes);
		return;
	}
	j->raw_data = bytes;
	if ((f->blob == PD_BLOB_LARGE && j->options.blobs == PD_BLOBS_OMIT) ||
	    (f->blob == PD_BLOB_PAYLOAD && j->options.blobs != PD_BLOBS_FULL))
		return;
	pd_json_key(j, f);
	pd_jsonw_hex(&j->w, bytes);
}

static void on_enter(void *ctx, const struct pd_field *f)
{
	struct pd_json *j = ctx;

	if (f)
		pd_json_key(j, f);
	else
		pd_jsonw_comma(&j->w);
	pd_jsonw_char(&j->w, '{');
}

static void on_leave(void *ctx, const struct pd_field *f)
{
	struct pd_json *j = ctx;

	if (f && j->record && j->record->attr && j->record->attr->tracepoint &&
	    strcmp(f->name, "raw") == 0)
		pd_json_tracepoint(j, j->record->attr->tracepoint);
	pd_jsonw_char(&j->w, '}');
}

static void on_enter_array(void *ctx, const struct pd_field *f, size_t n)
{
	struct pd_json *j = ctx;

	(void)n;
	pd_json_key(j, f);
	pd_jsonw_char(&j->w, '[');
}

static void on_leave_array(void *ctx, const struct pd_field *f)
{
	struct pd_json *j = ctx;

	(void)f;
	pd_jsonw_char(&j->w, ']');
}

static void on_padding(void *ctx, const struct pd_bytes *spans, size_t n)
{
	struct pd_json *j = ctx;

	PD_JSONW_KEY(&j->w, "padding");
	pd_jsonw_char(&j->w, '"');
	for (size_t i = 0; i < n; i++)
		pd_jsonw_hex_inside(&j->w, spans[i]);
	pd_jsonw_char(&j->w, '"');
}

const struct pd_visitor pd_json_visitor = {
	.size = sizeof(pd_json_visitor), .number = on_number, .numbers = pd_json_numbers,
	.text = on_text, .bytes = on_bytes, .enter = on_enter, .leave = on_leave,
	.enter_array = on_enter_array, .leave_array = on_leave_array, .padding = on_padding,
};

void pd_json_feature(struct pd_json *j, uint64_t id, struct pd_bytes section)
{
	const struct pd_feature_desc *d =
		id < PD_FEATURE_BITS ? pd_feature_desc((uint32_t)id) : NULL;
	struct pd_plan *plan = d ? pd_session_feature_plan(j->session, d) : NULL;

	const bool is_pipe = pd_reader_file(j->reader)->mode == PD_MODE_PIPE;
	enum pd_regular regular = PD_IRREGULAR;
	struct pd_extent_of extent = { .code = PD_E_LIMIT };
	struct pd_bytes rest;

	if (!d) {
		pd_jsonw_comma(&j->w);
		pd_jsonw_raw(&j->w, "\"FEATURE_", 9);
		pd_jsonw_unsigned(&j->w, id);
		pd_jsonw_raw(&j->w, "\":{", 3);
		PD_JSONW_KEY(&j->w, "raw");
		pd_jsonw_hex(&j->w, section);
		pd_jsonw_char(&j->w, '}');
		return;
	}
	j->not_utf8 = false;
	if (plan) {
		pd_measure(plan, section, 0, j->session->swap, PD_TEXT_TO_END, &extent);
		regular = pd_visit(plan, section, 0, j->session->swap, &extent,
				   &pd_json_visitor, j);
	}
	rest = (struct pd_bytes){ section.data ? section.data + extent.end : NULL,
		section.size - extent.end };
	if (regular == PD_REGULAR && extent.code == PD_OK && !j->not_utf8 &&
	    (!rest.size || (is_pipe && rest.size < 8 && pd_all_zero(rest))))
		return;		/* zeros that pad a record to its size are implied */
	pd_json_key_with(j, d->field->name, "_raw");
	pd_jsonw_hex(&j->w, section);
}
