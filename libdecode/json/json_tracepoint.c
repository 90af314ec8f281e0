/* json_tracepoint.c - writes a tracepoint's fields as JSON: the recording has their layout. */
#include "json/json.h"
#include "pd/fields.h"

static void write_key(struct pd_json *j, const struct pd_tp_field *f)
{
	if (f->key_size <= PD_JSONW_SLACK)
		pd_jsonw_key(&j->w, f->key, f->key_size);
}

static inline char *put_number(char *at, const struct pd_tp_field *f, uint64_t v)
{
	if (f->is_pointer)
		return pd_write_address(at, v);
	if (f->is_signed && (int64_t)v < 0) {
		*at++ = '-';
		v = -v;
	}
	return pd_write_decimal(at, v);
}

static void on_number(void *ctx, const struct pd_tp_field *f, uint64_t v)
{
	struct pd_json *j = ctx;

	write_key(j, f);
	if (f->kind == PD_TP_POINTER)
		pd_jsonw_address(&j->w, v);
	else if (f->kind == PD_TP_SIGNED)
		pd_jsonw_signed(&j->w, (int64_t)v);
	else
		pd_jsonw_unsigned(&j->w, v);
}

static void on_numbers(void *ctx, const struct pd_tp_field *f, const struct pd_numbers *n)
{
	struct pd_json *j = ctx;

	write_key(j, f);
	pd_jsonw_char(&j->w, '[');
	for (size_t i = 0; i < n->count; i++) {
		pd_jsonw_room(&j->w);
		*j->w.at = ',';
		j->w.at = put_number(j->w.at + (i != 0), f, pd_tp_element(f, n, i));
	}
	pd_jsonw_char(&j->w, ']');
}

static void on_text(void *ctx, const struct pd_tp_field *f, struct pd_bytes bytes)
{
	struct pd_json *j = ctx;

	write_key(j, f);
	if (pd_jsonw_text(&j->w, bytes) == PD_UTF8)
		return;
	pd_json_key_with(j, f->name, "_hex");
	pd_jsonw_hex(&j->w, bytes);
}

static void on_bytes(void *ctx, const struct pd_tp_field *f, struct pd_bytes span)
{
	struct pd_json *j = ctx;

	write_key(j, f);
	pd_jsonw_hex(&j->w, span);
}

static const struct pd_tp_visitor visitor = { on_number, on_numbers, on_text, on_bytes, NULL };

/* Writes the object from its key up to the fields. */
static void write_head(struct pd_jsonw *w, const struct pd_tp_event *e)
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

/* Returns the count of numbers in a field at a fixed offset: 1, or that of a short array. 0: the
 * field is of another kind. */
static unsigned int count_numbers(const struct pd_tp_field *f)
{
	if (f->place != PD_TP_FIXED)
		return 0;
	if (f->kind == PD_TP_UNSIGNED || f->kind == PD_TP_SIGNED || f->kind == PD_TP_POINTER)
		return 1;
	if (f->kind != PD_TP_INTS || f->size % f->elem_size || f->size / f->elem_size > SHORT_ARRAY)
		return 0;
	return f->size / f->elem_size;
}

/* Appends a field. Returns false if it is of another kind or does not fit. */
static bool add_field(struct pd_emit *p, const struct pd_tp_field *f)
{
	const bool array = f->kind == PD_TP_INTS;
	const unsigned int width = array ? f->elem_size : f->size, n = count_numbers(f);
	const enum pd_show show = f->is_pointer ? PD_HEX : f->is_signed ? PD_SIGNED : PD_DEC;

	if (!n || (show == PD_HEX && width != 8) || f->offset > INT32_MAX - f->size ||
	    f->key_size > PD_EMIT_TEXT / 2 || p->nr_slots + n > PD_EMIT_SLOTS ||
	    p->size + f->key_size + n + 2 > PD_EMIT_TEXT)
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

/* Compiles the consecutive fields of numbers from `first` on; if that is 0, also the head. */
static COLD void compile_program(struct pd_emit *p, const struct pd_emit_key *key,
				 const struct pd_tp_event *e, size_t first)
{
	struct pd_emit_scratch s;

	pd_emit_begin(p, key);
	if (!first) {
		pd_emit_scratch_init(&s);
		write_head(&s.w, e);
		pd_emit_add_scratch(p, &s);
	}
	for (size_t i = first; i < e->nr_fields; i++) {
		if (p->is_unusable || !add_field(p, &e->fields[i]))
			break;
		p->nr_fields++;
		p->cost += e->fields[i].size + 1;
	}
	pd_emit_end(p);
}

/* Returns NULL if the field at `first` is not of numbers, or does not fit. */
static const struct pd_emit *find_program(struct pd_json *j, const struct pd_tp_event *e,
					  size_t first)
{
	const struct pd_emit_key key = { .of = &e->fields[first], .what = PD_EMIT_TRACEPOINT };
	struct pd_emit *p = pd_emit_lookup(j->programs, &key);

	if (!pd_emit_is_for(p, &key))
		compile_program(p, &key, e, first);
	return p->is_unusable ? NULL : p;
}

/* Writes the fields of the program at `i`, or one field. Returns the index of the next field. */
static size_t write_fields(struct pd_json *j, const struct pd_tp_event *e, size_t i, uint64_t *left)
{
	const struct pd_emit *p = j->raw_data.size >= e->min_size ? find_program(j, e, i) : NULL;

	if (p && p->cost <= *left) {
		*left -= p->cost;
		pd_json_emit(j, p, j->raw_data.data, e->swap);
		if (i || p->nr_fields)
			return i + p->nr_fields;
	} else if (!i) {
		write_head(&j->w, e);
	}
	j->fields_missing += !pd_tp_decode_field(e, &e->fields[i], j->raw_data, left, &visitor, j);
	return i + 1;
}

/* Writes the name of the system call, if its number is one of the machine's. */
static COLD void write_syscall(struct pd_json *j, const struct pd_tp_event *e)
{
	const struct pd_tp_field *f = e->syscall;
	const char *name = j->raw_data.size < e->min_size ? NULL :
		pd_arch_syscall(j->session->arch,
				pd_load(j->raw_data.data + f->offset, f->size, e->swap));

	if (!name)
		return;
	PD_JSONW_KEY(&j->w, "syscall");
	pd_jsonw_string(&j->w, name);
}

void pd_json_tracepoint(struct pd_json *j, const struct pd_tp_event *e)
{
	uint64_t left = pd_tp_allowance(j->raw_data);

	for (size_t i = 0; i < e->nr_fields;)
		i = write_fields(j, e, i, &left);
	pd_jsonw_char(&j->w, '}');
	if (e->syscall)
		write_syscall(j, e);
	pd_jsonw_char(&j->w, '}');
}

/* Here, because it reports what JSON does. */
bool pd_reader_check_raw(struct pd_reader *r, const struct pd_fields *sample)
{
	static const struct pd_tp_visitor nothing = { .number = NULL };
	const struct pd_attr *a = r && sample && sample->has & PD_HAS_RAW ? sample->attr : NULL;
	struct pd_error e;

	if (!a || !a->tracepoint || !pd_tp_decode(a->tracepoint, sample->raw, &nothing, NULL))
		return true;
	e = pd_tp_shortage(sample->offset, a->tracepoint->min_size, sample->raw.size, NULL);
	pd_reader_report(r, &e);
	return false;
}
