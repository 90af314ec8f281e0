/* tracepoint_parse.c - parse a tracepoint's format text. */
#include "tracepoint/tracepoint.h"

#include <string.h>

/* ---- Pieces of text ---- */

static bool is_blank(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(uint8_t c)
{
	return is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static struct pd_bytes drop_prefix(struct pd_bytes b, size_t n)
{
	return (struct pd_bytes){ b.data + n, b.size - n };
}

static struct pd_bytes take_prefix(struct pd_bytes b, size_t n)
{
	return (struct pd_bytes){ b.data, n };
}

static struct pd_bytes trim_blanks(struct pd_bytes b)
{
	while (b.size && is_blank(b.data[0]))
		b = drop_prefix(b, 1);
	while (b.size && is_blank(b.data[b.size - 1]))
		b.size--;
	return b;
}

static bool equals(struct pd_bytes b, const char *word)
{
	return strlen(word) == b.size && !memcmp(b.data, word, b.size);
}

/* Removes the prefix and blanks after it from b. Returns false if b has no such prefix. */
static bool strip_prefix(struct pd_bytes *b, const char *prefix)
{
	size_t n = strlen(prefix);

	if (b->size < n || memcmp(b->data, prefix, n) != 0)
		return false;
	*b = trim_blanks(drop_prefix(*b, n));
	return true;
}

/* Takes the piece before the mark and moves *rest past the mark. Returns false if there is none. */
static bool split_at(struct pd_bytes *rest, uint8_t mark, struct pd_bytes *piece)
{
	const uint8_t *at = rest->size ? memchr(rest->data, mark, rest->size) : NULL;

	if (!at)
		return false;
	*piece = take_prefix(*rest, (size_t)(at - rest->data));
	*rest = drop_prefix(*rest, piece->size + 1);
	return true;
}

/* Parses all of b as a decimal number up to max. */
static bool parse_number(struct pd_bytes b, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	b = trim_blanks(b);
	if (!b.size)
		return false;
	for (size_t i = 0; i < b.size; i++) {
		unsigned int digit = b.data[i] - '0';

		if (!is_digit(b.data[i]) || v > (max - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*out = v;
	return true;
}

/* ---- Types ---- */

/* The words of a type. */
enum word {
	WORD_UNSIGNED = 1 << 0,
	WORD_SIGNED = 1 << 1,
	WORD_CHAR = 1 << 2,
	WORD_SHORT = 1 << 3,
	WORD_INT = 1 << 4,
	WORD_LONG = 1 << 5,
	WORD_LONG_LONG = 1 << 6,
	WORD_ENUM = 1 << 7,
	WORD_STRUCT = 1 << 8,
	WORD_8 = 1 << 9,
	WORD_16 = 1 << 10,
	WORD_32 = 1 << 11,
	WORD_64 = 1 << 12,
	WORD_DATA_LOC = 1 << 13,
	WORD_REL_LOC = 1 << 14,
};

/* Types whose size does not depend on the kernel's configuration. Other words are ignored. */
static const struct {
	const char *name;
	unsigned int words;
} words[] = {
	{ "unsigned", WORD_UNSIGNED },
	{ "signed", WORD_SIGNED },
	{ "char", WORD_CHAR },
	{ "short", WORD_SHORT },
	{ "int", WORD_INT },
	{ "long", WORD_LONG },
	{ "enum", WORD_ENUM },
	{ "struct", WORD_STRUCT },
	{ "union", WORD_STRUCT },
	{ "__data_loc", WORD_DATA_LOC },
	{ "__rel_loc", WORD_REL_LOC },
	{ "bool", WORD_8 | WORD_UNSIGNED },
	{ "_Bool", WORD_8 | WORD_UNSIGNED },
	{ "u8", WORD_8 | WORD_UNSIGNED },
	{ "u16", WORD_16 | WORD_UNSIGNED },
	{ "u32", WORD_32 | WORD_UNSIGNED },
	{ "u64", WORD_64 | WORD_UNSIGNED },
	{ "s8", WORD_8 | WORD_SIGNED },
	{ "s16", WORD_16 | WORD_SIGNED },
	{ "s32", WORD_32 | WORD_SIGNED },
	{ "s64", WORD_64 | WORD_SIGNED },
	{ "__u8", WORD_8 | WORD_UNSIGNED },
	{ "__u16", WORD_16 | WORD_UNSIGNED },
	{ "__u32", WORD_32 | WORD_UNSIGNED },
	{ "__u64", WORD_64 | WORD_UNSIGNED },
	{ "__s8", WORD_8 | WORD_SIGNED },
	{ "__s16", WORD_16 | WORD_SIGNED },
	{ "__s32", WORD_32 | WORD_SIGNED },
	{ "__s64", WORD_64 | WORD_SIGNED },
	{ "uint8_t", WORD_8 | WORD_UNSIGNED },
	{ "uint16_t", WORD_16 | WORD_UNSIGNED },
	{ "uint32_t", WORD_32 | WORD_UNSIGNED },
	{ "uint64_t", WORD_64 | WORD_UNSIGNED },
	{ "int8_t", WORD_8 | WORD_SIGNED },
	{ "int16_t", WORD_16 | WORD_SIGNED },
	{ "int32_t", WORD_32 | WORD_SIGNED },
	{ "int64_t", WORD_64 | WORD_SIGNED },
	{ "__le16", WORD_16 | WORD_UNSIGNED },
	{ "__le32", WORD_32 | WORD_UNSIGNED },
	{ "__le64", WORD_64 | WORD_UNSIGNED },
	{ "__be16", WORD_16 | WORD_UNSIGNED },
	{ "__be32", WORD_32 | WORD_UNSIGNED },
	{ "__be64", WORD_64 | WORD_UNSIGNED },
	{ "uchar", WORD_8 | WORD_UNSIGNED },
	{ "ushort", WORD_16 | WORD_UNSIGNED },
	{ "uint", WORD_32 | WORD_UNSIGNED },
	{ "ulong", WORD_LONG | WORD_UNSIGNED },
	{ "uintptr_t", WORD_LONG | WORD_UNSIGNED },
	{ "size_t", WORD_LONG | WORD_UNSIGNED },
	{ "ssize_t", WORD_LONG | WORD_SIGNED },
	{ "pgoff_t", WORD_LONG | WORD_UNSIGNED },
	{ "cpumask_t", WORD_LONG | WORD_UNSIGNED },
	{ "nodemask_t", WORD_LONG | WORD_UNSIGNED },
	{ "pid_t", WORD_32 | WORD_SIGNED },
	{ "uid_t", WORD_32 | WORD_UNSIGNED },
	{ "gid_t", WORD_32 | WORD_UNSIGNED },
	{ "dev_t", WORD_32 | WORD_UNSIGNED },
	{ "gfp_t", WORD_32 | WORD_UNSIGNED },
	{ "umode_t", WORD_16 | WORD_UNSIGNED },
	{ "loff_t", WORD_64 | WORD_SIGNED },
	{ "sector_t", WORD_64 | WORD_UNSIGNED },
	{ "ktime_t", WORD_64 | WORD_SIGNED },
	{ "time64_t", WORD_64 | WORD_SIGNED },
};

struct declaration {
	struct pd_bytes before, name, after;	/* after: "[16]", or the end of a function's type */
	unsigned int words;
	bool is_pointer, is_array;
	uint64_t count;				/* of a fixed array; 0: not given in digits */
};

static void add_word(struct declaration *d, struct pd_bytes word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!equals(word, words[i].name))
			continue;
		if (words[i].words == WORD_LONG && d->words & WORD_LONG)
			d->words |= WORD_LONG_LONG;
		d->words |= words[i].words;
		return;
	}
}

/* Returns the end of the bracket that opens text, or the last byte. */
static size_t find_closing(struct pd_bytes text)
{
	size_t depth = 0;

	for (size_t i = 0; i < text.size; i++) {
		depth += text.data[i] == '[';
		if (text.data[i] == ']' && !--depth)
			return i;
	}
	return text.size - 1;
}

/* text: "[16] ...". Returns the length of the brackets. */
static size_t parse_length(struct declaration *d, struct pd_bytes text)
{
	size_t end = find_closing(text);
	uint64_t n;

	if (end < 2 || !parse_number(drop_prefix(take_prefix(text, end), 1), UINT16_MAX, &n))
		n = 0;
	d->count = d->is_array ? d->count * n : n;
	if (d->count > UINT32_MAX)
		d->count = 0;
	d->is_array = true;
	return end + 1;
}

static void parse_type(struct declaration *d, struct pd_bytes text)
{
	while (text.size) {
		size_t n = 0;

		while (n < text.size && is_word(text.data[n]))
			n++;
		if (n)
			add_word(d, take_prefix(text, n));
		else if (text.data[0] == '[')
			n = parse_length(d, text);
		else
			n = 1;
		d->is_pointer |= text.data[0] == '*';
		text = drop_prefix(text, n);
	}
}

/* `void (*name)(int)` is a pointer; the rest does not affect the value. */
static bool parse_function(struct declaration *d, struct pd_bytes text)
{
	const uint8_t *open = memmem(text.data, text.size, "(*", 2);
	const uint8_t *bracket = memchr(text.data, '[', text.size);
	size_t start, end;

	if (!open || (bracket && bracket < open))
		return false;
	start = (size_t)(open - text.data) + 2;
	while (start < text.size && is_blank(text.data[start]))
		start++;
	end = start;
	while (end < text.size && is_word(text.data[end]))
		end++;
	d->before = take_prefix(text, start);
	d->name = take_prefix(drop_prefix(text, start), end - start);
	d->after = drop_prefix(text, end);
	d->is_pointer = true;
	if (d->after.size && d->after.data[0] == '[')
		parse_length(d, d->after);
	return true;
}

/* The name is the last word before the array lengths. */
static void parse_simple(struct declaration *d, struct pd_bytes text)
{
	size_t end = text.size, depth = 0, start;

	while (end && (depth || text.data[end - 1] == ']' || is_blank(text.data[end - 1]))) {
		end--;
		depth += text.data[end] == ']';
		depth -= text.data[end] == '[' && depth;
	}
	start = end;
	while (start && is_word(text.data[start - 1]))
		start--;
	d->before = trim_blanks(take_prefix(text, start));
	d->name = take_prefix(drop_prefix(text, start), end - start);
	d->after = trim_blanks(drop_prefix(text, end));
}

static bool parse_declaration(struct pd_bytes text, struct declaration *d)
{
	*d = (struct declaration){ .count = 0 };
	if (!text.size || text.size > PD_TP_MAX_DECLARATION)
		return false;
	if (!parse_function(d, text)) {
		parse_simple(d, text);
		parse_type(d, d->before);
		parse_type(d, d->after);
	}
	return d->before.size && d->name.size && !is_digit(d->name.data[0]);
}

/* Returns the size of the type, or 0 if it is unknown. */
static unsigned int size_of_type(const struct declaration *d, unsigned int long_size)
{
	static const struct {
		unsigned int word, size;
	} sizes[] = {
		{ WORD_ENUM, 4 },	{ WORD_8, 1 },	{ WORD_16, 2 },	  { WORD_32, 4 },
		{ WORD_64, 8 },		{ WORD_CHAR, 1 }, { WORD_SHORT, 2 }, { WORD_LONG_LONG, 8 },
		{ WORD_LONG, 0 },	{ WORD_INT | WORD_UNSIGNED | WORD_SIGNED, 4 },
	};

	if (d->is_pointer)
		return long_size;
	if (d->words & WORD_STRUCT)
		return 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (d->words & sizes[i].word)
			return sizes[i].size ? sizes[i].size : long_size;
	return 0;
}

/* For kernels whose texts do not state it. */
static bool is_signed_type(const struct declaration *d)
{
	if (d->is_pointer || d->words & (WORD_UNSIGNED | WORD_STRUCT | WORD_ENUM))
		return false;
	return d->words & (WORD_SIGNED | WORD_CHAR | WORD_SHORT | WORD_INT | WORD_LONG);
}

/* ---- A field ---- */

static bool is_number_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static unsigned int size_of_element(const struct declaration *d, const struct pd_tp_field *f,
				    unsigned int long_size)
{
	unsigned int size = size_of_type(d, long_size);

	/* The sizes in the text take precedence over the type. */
	if (f->place == PD_TP_FIXED && d->count && f->size % d->count == 0)
		size = f->size / (uint32_t)d->count;
	if (!is_number_size(size) || (d->words & WORD_STRUCT && !d->is_pointer))
		return 0;
	return f->place != PD_TP_FIXED || f->size % size == 0 ? size : 0;
}

static void choose_kind(const struct declaration *d, struct pd_tp_field *f, unsigned int long_size)
{
	const unsigned int qualified = WORD_SIGNED | WORD_UNSIGNED;

	if (f->size == 4 && d->words & (WORD_DATA_LOC | WORD_REL_LOC))
		f->place = d->words & WORD_REL_LOC ? PD_TP_REL_LOC : PD_TP_DATA_LOC;
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
	if (d->words & WORD_CHAR && !(d->words & qualified) && !f->is_pointer) {
		f->kind = PD_TP_STRING;
		f->elem_size = 1;
		return;
	}
	f->elem_size = (uint8_t)size_of_element(d, f, long_size);
	f->kind = f->elem_size ? PD_TP_INTS : PD_TP_BYTES;
}

/* `offset:8;	size:16;	signed:0;` in any order, with anything else that kernels add. */
static bool parse_attributes(const struct declaration *d, struct pd_bytes rest,
			     struct pd_tp_field *f)
{
	bool has_offset = false, has_size = false, has_sign = false;
	struct pd_bytes piece;
	uint64_t value;

	while (split_at(&rest, ';', &piece)) {
		piece = trim_blanks(piece);
		if (strip_prefix(&piece, "offset:")) {
			has_offset = parse_number(piece, UINT32_MAX, &value);
			f->offset = has_offset ? (uint32_t)value : 0;
		} else if (strip_prefix(&piece, "size:")) {
			has_size = parse_number(piece, UINT32_MAX, &value);
			f->size = has_size ? (uint32_t)value : 0;
		} else if (strip_prefix(&piece, "signed:")) {
			has_sign = parse_number(piece, 1, &value);
			f->is_signed = has_sign && value;
		}
	}
	if (!has_sign)
		f->is_signed = is_signed_type(d);
	return has_offset && has_size;
}

static char *append_bytes(char *at, struct pd_bytes b)
{
	memcpy(at, b.data, b.size);
	return at + b.size;
}

/* Stores name, key and type in one allocation. */
static bool store_strings(struct pd_arena *a, const struct declaration *d, struct pd_tp_field *f)
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
	struct declaration d;
	struct pd_bytes text;

	if (!split_at(&line, ';', &text) || !parse_declaration(trim_blanks(text), &d) ||
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

	if (strip_prefix(&line, "field:") || strip_prefix(&line, "field special:"))
		return parse_field(p, line);
	if (!*e->name && strip_prefix(&line, "name:") && line.size <= PD_TP_MAX_NAME) {
		e->name = pd_arena_text(p->arena, line.data, line.size);
		return e->name ? PD_OK : pd_tp_no_memory(p->arena);
	}
	if (!p->has_id && strip_prefix(&line, "ID:")) {
		p->has_id = parse_number(line, UINT64_MAX, &e->id);
		return p->has_id ? PD_OK : PD_E_FORMAT;
	}
	return !line.size || equals(line, "format:") ? PD_OK : PD_E_FORMAT;
}

/* Takes the next line, without blanks at its ends. */
static struct pd_bytes next_line(struct pd_bytes *rest)
{
	struct pd_bytes line;

	if (!split_at(rest, '\n', &line)) {
		line = *rest;
		*rest = drop_prefix(*rest, rest->size);
	}
	return trim_blanks(line);
}

/* Allocates a field for each line. */
static bool alloc_fields(struct parser *p, struct pd_bytes text)
{
	while (text.size && p->room < PD_TP_MAX_FIELDS) {
		struct pd_bytes line = next_line(&text);

		p->room += strip_prefix(&line, "field");
	}
	p->fields = pd_arena_alloc(p->arena, p->room * sizeof(*p->fields));
	p->event->fields = p->fields;
	return p->fields;
}

static enum pd_code keep_print_format(struct parser *p, struct pd_bytes text)
{
	text = trim_blanks(text);
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

		if (strip_prefix(&line, "print fmt")) {
			if (strip_prefix(&line, ":") &&
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
	struct pd_bytes system = take_prefix(in->system, pd_text_length(in->system));
	struct pd_bytes text = take_prefix(in->text, pd_text_length(in->text));
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
