/* print_format.c - compiles print formats; print_fields.c uses them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "samples/print_parse.h"

enum { WIDTH_MOST = 1000 };

/* Takes the next argument. */
static uint32_t next_argument(struct pp_parser *p)
{
	return pp_accept(p, ",") ? pp_parse_expression(p) : PP_NONE;
}

/* Reads a number of columns, or takes it from an argument. Returns false if it can't be had. */
static bool read_columns(struct pp_parser *p, const char **at, int *columns, uint32_t *from)
{
	*from = PP_NONE;
	*columns = -1;
	if (**at == '*') {
		++*at;
		*from = next_argument(p);
		return *from != PP_NONE;
	}
	for (; isdigit((unsigned char)**at); ++*at) {
		*columns = (*columns < 0 ? 0 : *columns) * 10 + (**at - '0');
		if (*columns > WIDTH_MOST)
			return false;
	}
	return true;
}

static void read_marks(const char **at, struct pp_conversion *c)
{
	for (;; ++*at) {
		c->is_left |= **at == '-';
		c->has_zeros |= **at == '0';
		c->has_plus |= **at == '+';
		c->has_blank |= **at == ' ';
		c->has_prefix |= **at == '#';
		if (!**at || !strchr("-0+ #", **at))
			return;
	}
}

/* Reads h, hh, l, ...: the bits of a number. */
static uint8_t read_bits(const char **at)
{
	uint8_t bits = 32;

	for (; **at && strchr("hlLqjzt", **at); ++*at)
		bits = **at != 'h' ? 64 : bits == 16 ? 8 : 16;
	return bits;
}

/* Reads the letter, with those after p. */
static bool read_letter(const char **at, struct pp_conversion *c)
{
	static const struct {
		const char *letters;
		char letter;
	} kinds[] = { { "s", 'F' }, { "f", 'F' }, { "S", 'S' }, { "F", 'S' }, { "x", 'p' },
		      { "K", 'p' }, { "I4", '4' }, { "I6c", '6' }, { "ISpc", 'I' },
		      { "U", 'U' }, { "M", 'M' } };

	c->letter = *(*at)++;
	if (!c->letter || !strchr("diuoxXcsp", c->letter))
		return false;
	if (c->letter != 'p' || !isalnum((unsigned char)**at))
		return true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const size_t size = strlen(kinds[i].letters);

		if (strncmp(*at, kinds[i].letters, size) != 0 ||
		    isalnum((unsigned char)(*at)[size]))
			continue;
		c->letter = kinds[i].letter;
		*at += size;
		return true;
	}
	return false;
}

/* Reads a conversion after its '%', and takes its arguments. */
static bool read_conversion(struct pp_parser *p, const char **at, struct pp_conversion *c)
{
	read_marks(at, c);
	if (!read_columns(p, at, &c->width, &c->width_from))
		return false;
	if (**at == '.') {
		++*at;
		if (!read_columns(p, at, &c->precision, &c->precision_from))
			return false;
		if (c->precision < 0)
			c->precision = 0;
	}
	c->bits = read_bits(at);
	if (!read_letter(at, c))
		return false;
	c->from = next_argument(p);
	return c->from != PP_NONE;
}

/* Adds a conversion: the last one, which is none, at the NUL. Returns where it ends, or NULL. */
static const char *add_conversion(struct pp_parser *p, const char *at)
{
	struct pp_conversion c = { .text = (uint32_t)p->f->size, .width = -1, .precision = -1,
				   .width_from = PP_NONE, .precision_from = PP_NONE,
				   .from = PP_NONE }, *items;

	for (; *at && (*at != '%' || at[1] == '%'); at++) {
		at += *at == '%';
		if (!pp_add_character(p, *at))
			return NULL;
	}
	c.size = (uint32_t)p->f->size - c.text;
	if (*at++ && !read_conversion(p, &at, &c))
		return NULL;
	items = pp_memory_grow(p->memory, p->f->conversions, &p->f->conversions_capacity,
			       p->f->nr_conversions + 1, sizeof(c));
	if (!items)
		return NULL;
	p->f->conversions = items;
	items[p->f->nr_conversions++] = c;
	return c.letter ? at : at - 1;
}

static bool parse(struct pp_parser *p)
{
	uint32_t text, size;
	const char *at;
	char *copy;

	/* the texts grow while the format string is read */
	if (!pp_take_string(p, &text, &size) || !pp_add_character(p, '\0'))
		return false;
	copy = strdup(p->f->texts + text);
	at = copy;
	do
		at = at ? add_conversion(p, at) : NULL;
	while (at && p->f->conversions[p->f->nr_conversions - 1].letter);
	free(copy);
	return at;
}

struct pp_print_format *pp_print_format_new(struct pp_memory *m, const char *text)
{
	struct pp_print_format *f = pp_memory_zeroed(m, 1, sizeof(*f));
	struct pp_parser p = { .f = f, .memory = m, .at = text };

	if (f && !parse(&p)) {
		pp_print_format_free(f, m);
		return NULL;
	}
	return f;
}

void pp_print_format_free(struct pp_print_format *f, struct pp_memory *m)
{
	if (!f)
		return;
	pp_memory_free(m, f->texts, f->capacity, 1);
	pp_memory_free(m, f->nodes, f->nodes_capacity, sizeof(*f->nodes));
	pp_memory_free(m, f->conversions, f->conversions_capacity, sizeof(*f->conversions));
	pp_memory_free(m, f, 1, sizeof(*f));
}
