/* pack_number.c - numbers in the forms that the JSON has. */
#include "pack/pack_number.h"

#include <stdbool.h>
#include <string.h>

static int parse_digits(struct pd_bytes text, unsigned int base, uint64_t *out)
{
	uint64_t v = 0;

	if (!text.size)
		return -1;
	for (size_t i = 0; i < text.size; i++) {
		uint8_t c = text.data[i] | 0x20;
		unsigned int d = c >= '0' && c <= '9' ? c - (unsigned int)'0' : c >= 'a' &&
			c <= 'f' ? c - 'a' + 10u : 16;

		if (d >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, d, &v))
			return -1;
	}
	*out = v;
	return 0;
}

static int find_name(const struct pd_name *names, struct pd_bytes text, uint64_t *out)
{
	for (; names && names->name; names++)
		if (strlen(names->name) == text.size &&
		    memcmp(names->name, text.data, text.size) == 0) {
			*out = names->value;
			return 0;
		}
	return -1;
}

static int parse_text(struct pd_bytes t, const struct pd_name *names, uint64_t *out)
{
	if (find_name(names, t, out) == 0)
		return 0;
	if (t.size > 1 && t.data[0] == '-') {
		if (parse_digits((struct pd_bytes){ t.data + 1, t.size - 1 }, 10, out) ||
		    *out > 1ull << 63)
			return -1;
		*out = -*out;
		return 0;
	}
	if (t.size > 2 && t.data[0] == '0' && (t.data[1] | 0x20) == 'x')
		return parse_digits((struct pd_bytes){ t.data + 2, t.size - 2 }, 16, out);
	return parse_digits(t, 10, out);
}

bool pd_node_is_negative(const struct pd_values *v, pd_node n)
{
	switch (n ? v->type(n) : PD_NODE_NULL) {
	case PD_NODE_TEXT:
		return v->text(n).size && v->text(n).data[0] == '-';
	case PD_NODE_NUMBER:
	case PD_NODE_REAL:
		return v->real(n) < 0;
	default:
		return false;
	}
}

int pd_node_number(const struct pd_values *v, pd_node n, const struct pd_name *names, uint64_t *out)
{
	double real;

	switch (n ? v->type(n) : PD_NODE_NULL) {
	case PD_NODE_NUMBER:
		*out = v->number(n);
		return 0;
	case PD_NODE_TEXT:
		return parse_text(v->text(n), names, out);
	case PD_NODE_REAL:	/* 1e3, 5.0: jq writes large or rounded integers so */
		real = v->real(n);
		if (!(real >= -9223372036854775808.0 && real < 18446744073709551616.0))
			return -1;
		*out = real < 0 ? (uint64_t)(int64_t)real : (uint64_t)real;
		return real < 0 ? ((double)(int64_t)*out == real ? 0 : -1) :
			((double)*out == real ? 0 : -1);
	default:
		return -1;
	}
}

/* ORs the values of a list of names. */
static int mask_of_names(const struct pd_values *v, pd_node list, const struct pd_name *names,
			 uint64_t *out)
{
	*out = 0;
	if (!list)
		return 0;
	if (v->type(list) != PD_NODE_ARRAY)
		return -1;
	for (size_t i = 0; i < v->length(list); i++) {
		uint64_t bit = 0;
		pd_node n = v->item(list, i, &bit);

		if (n && pd_node_number(v, n, names, &bit))
			return -1;
		*out |= bit;
	}
	return 0;
}

static uint64_t low_bits(unsigned int width)
{
	return (width == 64 ? 0 : 1ull << width) - 1;
}

static int pack_part(const struct pd_values *v, pd_node n, const struct pd_bits *b, uint64_t *out)
{
	uint64_t ignored = 0;

	switch (b->show) {
	case PD_BIT_LIST:
		return mask_of_names(v, n, b->names, out);
	case PD_BIT_ENUM_LIST:
		*out = 0;
		if (v->type(n) != PD_NODE_ARRAY || v->length(n) > 1)
			return -1;
		return v->length(n) ? pd_node_number(v, v->item(n, 0, &ignored), b->names, out) : 0;
	default:
		return pd_node_number(v, n, b->names, out);
	}
}

/* Sets the members named by `bits` in *word. Returns 0, or -1 and *bad. */
static int set_named_bits(const struct pd_values *v, pd_node object, const struct pd_bits *bits,
			  uint64_t *word, const char **bad)
{
	for (const struct pd_bits *b = bits; b && b->name; b++) {
		pd_node n = v->member(object, b->name);
		uint64_t value = 0;

		if (!n)
			continue;
		if (pack_part(v, n, b, &value) || value > low_bits(b->width)) {
			*bad = b->name;
			return -1;
		}
		*word = (*word & ~(low_bits(b->width) << b->shift)) | value << b->shift;
	}
	return 0;
}

/* Returns the bits of a word that have names. */
static uint64_t named_bits(const struct pd_name *names, uint64_t word)
{
	uint64_t bits = 0;

	for (; names->name; names++)
		if ((word & names->value) == names->value)
			bits |= names->value;
	return bits;
}

/* Compares the members named by `bits` with the word that they are parts of. Returns 0, or -1 or
 * PD_PACK_CONTRADICTS and *bad. */
static int compare_bits(const struct pd_values *v, pd_node object, const struct pd_bits *bits,
			uint64_t word, const char **bad)
{
	for (const struct pd_bits *b = bits; b && b->name; b++) {
		const uint64_t part = word >> b->shift & low_bits(b->width);
		pd_node n = v->member(object, b->name);
		uint64_t value;

		*bad = b->name;
		if (n && pack_part(v, n, b, &value))
			return -1;
		if (n && value != (b->show == PD_BIT_LIST ? named_bits(b->names, part) : part))
			return PD_PACK_CONTRADICTS;
	}
	return 0;
}

/* Packs {"raw", "names"}: raw has all bits, with which names must agree; without it (JSON made by
 * hand) names count. */
static int pack_flags(const struct pd_values *v, pd_node n, pd_node parent,
		      const struct pd_field *f, uint64_t *out, const char **bad)
{
	pd_node raw, names;
	uint64_t mask;

	if (v->type(n) != PD_NODE_OBJECT)
		return pd_node_number(v, n, f->names, out);
	raw = v->member(n, "raw");
	names = v->member(n, "names");
	if (raw) {
		*bad = "raw";
		if (pd_node_number(v, raw, NULL, out))
			return -1;
		*bad = "names";
		if (names && mask_of_names(v, names, f->names, &mask))
			return -1;
		if (names && mask != named_bits(f->names, *out))
			return PD_PACK_CONTRADICTS;
		return compare_bits(v, parent, f->bits, *out, bad);
	}
	*bad = "names";
	if (mask_of_names(v, names, f->names, out))
		return -1;
	return set_named_bits(v, parent, f->bits, out, bad);
}

static int pack_double(const struct pd_values *v, pd_node n, uint64_t *out)
{
	double d;

	switch (v->type(n)) {
	case PD_NODE_REAL:
		d = v->real(n);
		break;
	case PD_NODE_NUMBER:
		d = (double)(int64_t)v->number(n);
		break;
	default:
		return -1;
	}
	memcpy(out, &d, sizeof(d));
	return 0;
}

int pd_pack_number_of(const struct pd_values *v, pd_node object, const struct pd_field *f,
		      uint64_t *out, const char **bad)
{
	pd_node n = v->member(object, f->name);

	*out = 0;
	*bad = NULL;
	if (f->show == PD_BITS)
		return n ? pd_node_number(v, n, NULL, out) :
			set_named_bits(v, object, f->bits, out, bad);
	if (!n)
		return 1;
	switch (f->show) {
	case PD_FLAGS:
		return pack_flags(v, n, object, f, out, bad);
	case PD_FLOAT:
		return v->type(n) == PD_NODE_NULL ? 1 : pack_double(v, n, out);
	case PD_BITS_OBJECT:
	case PD_BITS_RAW:
		if (v->type(n) != PD_NODE_OBJECT)
			return pd_node_number(v, n, NULL, out);
		if (!v->member(n, "raw"))
			return set_named_bits(v, n, f->bits, out, bad);
		*bad = "raw";
		if (pd_node_number(v, v->member(n, "raw"), NULL, out))
			return -1;
		return compare_bits(v, n, f->bits, *out, bad);
	default:
		return pd_node_number(v, n, f->names, out);
	}
}
