/* tracepoint_parse.c - parse a tracepoint's format text. */
#include "tracepoint/tracepoint.h"

#include <string.h>

#include "tracepoint/declaration.h"
#include "tracepoint/pieces.h"

/* ---- A field ---- */

static bool is_number_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static unsigned int size_of_element(const struct pd_declaration *d, const struct pd_tp_field *f,
				    unsigned int long_size)
{
	unsigned int size = pd_declaration_size(d, long_size);

	/* The sizes in the text take precedence over the type. */
	if (f->place == PD_TP_FIXED && d->count && f->size % d->count == 0)
		size = f->size / (uint32_t)d->count;
	if (!is_number_size(size) || (d->words & PD_WORD_STRUCT && !d->is_pointer))
		return 0;
	return f->place != PD_TP_FIXED || f->size % size == 0 ? size : 0;
}

static void choose_kind(const struct pd_declaration *d, struct pd_tp_field *f,
			unsigned int long_size)
{
	const unsigned int qualified = PD_WORD_SIGNED | PD_WORD_UNSIGNED;

	if (f->size == 4 && d->words & (PD_WORD_DATA_LOC | PD_WORD_REL_LOC))
		f->place = d->words & PD_WORD_REL_LOC ? PD_TP_REL_LOC : PD_TP_DATA_LOC;
	else if (!f->size && d->is_array && !d->count)
		f->place = PD_TP_REST;
	f->is_pointer = d->is_pointer;
	if (f->is_pointer)
		f->is_signed = false;
	if (f->place == PD_TP_FIXED && !d->is_array && is_number_size(f->size)) {
		f->kind = f->is_signed ? PD_TP_SIGNED : PD_TP_UNSIGNED;
		if (f->is_pointer)
			f->kind = PD_TP_POINTER;
		return;
	}
	if (d->words & PD_WORD_CHAR && !(d->words & qualified) && !f->is_pointer) {
		f->kind = PD_TP_STRING;
		f->elem_size = 1;
		return;
	}
	f->elem_size = (uint8_t)size_of_element(d, f, long_size);
	f->kind = f->elem_size ? PD_TP_INTS : PD_TP_BYTES;
}

/* `offset:8;	size:16;	signed:0;` in any order, with anything else that kernels add. */
static bool parse_attributes(const struct pd_declaration *d, struct pd_bytes rest,
			     struct pd_tp_field *f)
{
	bool has_offset = false, has_size = false, has_sign = false;
	struct pd_bytes piece;
	uint64_t value;

	while (pd_piece_split(&rest, ';', &piece)) {
		piece = pd_piece_trim(piece);
		if (pd_piece_strip(&piece, "offset:")) {
			has_offset = pd_piece_number(piece, UINT32_MAX, &value);
			f->offset = has_offset ? (uint32_t)value : 0;
		} else if (pd_piece_strip(&piece, "size:")) {
			has_size = pd_piece_number(piece, UINT32_MAX, &value);
			f->size = has_size ? (uint32_t)value : 0;
		} else if (pd_piece_strip(&piece, "signed:")) {
			has_sign = pd_piece_number(piece, 1, &value);
			f->is_signed = has_sign && value;
		}
	}
	if (!has_sign)
		f->is_signed = pd_declaration_is_signed(d);
	return has_offset && has_size;
}

static char *append_bytes(char *at, struct pd_bytes b)
{
	memcpy(at, b.data, b.size);
	return at + b.size;
}

/* Stores name, key and type in one allocation. */
static bool store_strings(struct pd_arena *a, const struct pd_declaration *d, struct pd_tp_field *f)
{
	size_t size = 2 * d->name.size + d->before.size + d->after.size + sizeof(",\"\":") + 2;
	char *at = pd_arena_alloc(a, size);

	if (!at)
		return false;
	f->name = at;
	at = append_bytes(at, d->name) + 1;
	f->key = at;
	*at++ = ',';
	*at++ = '"';
	at = append_bytes(at, d->name);
	*at++ = '"';
	*at++ = ':';
	f->key_size = (uint16_t)(at++ - f->key);
	f->type = at;
	at = append_bytes(at, d->before);
	if (d->after.size)
		append_bytes(at, d->after);
	return true;
}

/* Returns whether `named` has the key that JSON uses for the bytes of the string field f. */
static bool is_hex_of(const struct pd_tp_field *f, const struct pd_tp_field *named)
{
	size_t n = f->name_size;

	return f->kind == PD_TP_STRING && named->name_size == n + 4 &&
	       !memcmp(named->name, f->name, n) && !memcmp(named->name + n, "_hex", 4);
}

/* Returns whether an earlier field has one of the new field's keys. */
static bool is_taken(const struct pd_tp_event *e, const struct pd_tp_field *new)
{
	for (size_t i = 0; i < e->nr_fields; i++) {
		const struct pd_tp_field *f = &e->fields[i];

		if (f->name_size == new->name_size && !memcmp(f->name, new->name, f->name_size))
			return true;
		if (is_hex_of(f, new) || is_hex_of(new, f))
			return true;
	}
	return false;
}

/* ---- A text ---- */

struct parser {
	struct pd_arena *arena;
	const struct pd_tp_source *in;
	struct pd_tp_event *event;
	struct pd_tp_damage *damage;
	struct pd_tp_field *fields;	/* event->fields, PD_TP_MAX_FIELDS at most */
	size_t room;
	bool has_id;
};

enum pd_code pd_tp_no_memory(const struct pd_arena *a)
{
	size_t most = PD_TP_MAX_FIELDS * sizeof(struct pd_tp_field);

	return a->budget->limit - a->budget->used < 2 * most ? PD_E_LIMIT : PD_E_NOMEM;
}

/* line: the text after "field:". Returns PD_E_FORMAT if it is not understood. */
static enum pd_code parse_field(struct parser *p, struct pd_bytes line)
{
	struct pd_tp_event *e = p->event;
	struct pd_tp_field f = { .name = NULL };
	struct pd_declaration d;
	struct pd_bytes text;

	if (!pd_piece_split(&line, ';', &text) || !pd_declaration_parse(pd_piece_trim(text), &d) ||
	    !parse_attributes(&d, line, &f))
		return PD_E_FORMAT;
	choose_kind(&d, &f, p->in->long_size == 4 ? 4 : 8);
	f.name = (const char *)d.name.data;
	f.name_size = (uint16_t)d.name.size;
	if (e->nr_fields == p->room || is_taken(e, &f))
		return PD_E_FORMAT;
	if (!store_strings(p->arena, &d, &f))
		return pd_tp_no_memory(p->arena);
	p->fields[e->nr_fields++] = f;
	if ((uint64_t)f.offset + f.size > e->min_size)
		e->min_size = (uint64_t)f.offset + f.size;
	return PD_OK;
}

static enum pd_code parse_line(struct parser *p, struct pd_bytes line)
{
	struct pd_tp_event *e = p->event;

	if (pd_piece_strip(&line, "field:") || pd_piece_strip(&line, "field special:"))
		return parse_field(p, line);
	if (!*e->name && pd_piece_strip(&line, "name:") && line.size <= PD_TP_MAX_NAME) {
		e->name = pd_arena_text(p->arena, line.data, line.size);
		return e->name ? PD_OK : pd_tp_no_memory(p->arena);
	}
	if (!p->has_id && pd_piece_strip(&line, "ID:")) {
		p->has_id = pd_piece_number(line, UINT64_MAX, &e->id);
		return p->has_id ? PD_OK : PD_E_FORMAT;
	}
	return !line.size || pd_piece_equals(line, "format:") ? PD_OK : PD_E_FORMAT;
}

/* Takes the next line, without blanks at its ends. */
static struct pd_bytes next_line(struct pd_bytes *rest)
{
	struct pd_bytes line;

	if (!pd_piece_split(rest, '\n', &line)) {
		line = *rest;
		*rest = pd_piece_after(*rest, rest->size);
	}
	return pd_piece_trim(line);
}

/* Allocates a field for each line. */
static bool alloc_fields(struct parser *p, struct pd_bytes text)
{
	while (text.size && p->room < PD_TP_MAX_FIELDS) {
		struct pd_bytes line = next_line(&text);

		p->room += pd_piece_strip(&line, "field");
	}
	p->fields = pd_arena_alloc(p->arena, p->room * sizeof(*p->fields));
	p->event->fields = p->fields;
	return p->fields;
}

static enum pd_code keep_print_format(struct parser *p, struct pd_bytes text)
{
	text = pd_piece_trim(text);
	p->event->print_format = pd_arena_text(p->arena, text.data, text.size);
	return p->event->print_format ? PD_OK : pd_tp_no_memory(p->arena);
}

static enum pd_code parse_lines(struct parser *p, struct pd_bytes text)
{
	struct pd_bytes rest = text;

	while (rest.size) {
		size_t offset = text.size - rest.size;
		struct pd_bytes line = next_line(&rest);
		enum pd_code code;

		if (pd_piece_strip(&line, "print fmt")) {
			if (pd_piece_strip(&line, ":") &&
			    (code = keep_print_format(p, line)) != PD_OK)
				return code;
			break;
		}
		code = parse_line(p, line);
		if (code != PD_OK && code != PD_E_FORMAT)
			return code;
		if (code == PD_E_FORMAT && !p->damage->lines++)
			p->damage->offset = offset;
	}
	return p->has_id && p->event->nr_fields ? PD_OK : PD_E_FORMAT;
}

/* Returns the field of raw_syscalls:sys_enter and sys_exit with the number of the system call. */
static const struct pd_tp_field *find_syscall(const struct pd_tp_event *e)
{
	if (strcmp(e->system, "raw_syscalls") != 0 ||
	    (strcmp(e->name, "sys_enter") != 0 && strcmp(e->name, "sys_exit") != 0))
		return NULL;
	for (size_t i = 0; i < e->nr_fields; i++) {
		const struct pd_tp_field *f = &e->fields[i];

		if (strcmp(f->name, "id") == 0 && f->place == PD_TP_FIXED &&
		    (f->kind == PD_TP_SIGNED || f->kind == PD_TP_UNSIGNED))
			return f;
	}
	return NULL;
}

enum pd_code pd_tp_parse(struct pd_arena *a, const struct pd_tp_source *in, struct pd_tp_event *e,
			 struct pd_tp_damage *damage)
{
	struct pd_bytes system = pd_piece_before(in->system, pd_text_length(in->system));
	struct pd_bytes text = pd_piece_before(in->text, pd_text_length(in->text));
	struct parser p = { .arena = a, .in = in, .event = e, .damage = damage };
	enum pd_code code;

	*damage = (struct pd_tp_damage){ 0, 0 };
	*e = (struct pd_tp_event){ .name = "", .print_format = "", .swap = in->swap };
	if (system.size > PD_TP_MAX_NAME)
		return PD_E_FORMAT;
	e->system = pd_arena_text(a, system.data, system.size);
	if (!e->system || !alloc_fields(&p, text))
		return pd_tp_no_memory(a);
	code = parse_lines(&p, text);
	e->syscall = code == PD_OK ? find_syscall(e) : NULL;
	return code;
}
