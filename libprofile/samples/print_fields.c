/* print_fields.c - the text of a sample by its compiled print format. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "samples/print_evaluate.h"

struct printer {
	struct pp_sample_values values;
	struct pp_printed *out;
};

/* How a text is aligned. */
struct box {
	int width, precision;	/* precision -1: all of it */
	bool is_left;
};

static const struct box unboxed = { .width = 0, .precision = -1 };

/* --- text --- */

static bool put_text(struct printer *p, const char *text, size_t size)
{
	if (size > sizeof(p->out->text) - p->out->size)
		return false;
	memcpy(p->out->text + p->out->size, text, size);
	p->out->size += size;
	return true;
}

static bool put_blanks(struct printer *p, size_t n)
{
	bool fits = true;

	while (n-- && fits)
		fits = put_text(p, " ", 1);
	return fits;
}

static bool put_in_box(struct printer *p, const char *text, size_t size, const struct box *box)
{
	size_t blanks;

	if (box->precision >= 0 && (size_t)box->precision < size)
		size = (size_t)box->precision;
	blanks = box->width > 0 && (size_t)box->width > size ? (size_t)box->width - size : 0;
	return put_blanks(p, box->is_left ? 0 : blanks) && put_text(p, text, size) &&
	       put_blanks(p, box->is_left ? blanks : 0);
}

static bool put_hex(struct printer *p, uint64_t n, const struct box *box)
{
	char text[32];

	return put_in_box(p, text, (size_t)snprintf(text, sizeof(text), "0x%llx",
						    (unsigned long long)n), box);
}

/* --- what has names --- */

static bool put_flags(struct printer *p, const struct pp_node *n, const struct box *box)
{
	const char *texts = p->values.f->texts;
	uint64_t value, flag;
	bool is_first = true;

	if (!pp_evaluate(&p->values, n->first, &value))
		return false;
	for (uint32_t i = n->second; i != PP_NONE; i = p->values.f->nodes[i].next) {
		const struct pp_node *pair = &p->values.f->nodes[i];

		if (!pp_evaluate(&p->values, pair->first, &flag) || !flag || (value & flag) != flag)
			continue;
		if (!put_text(p, texts + n->text, is_first ? 0 : n->size) ||
		    !put_in_box(p, texts + pair->text, pair->size, box))
			return false;
		is_first = false;
		value &= ~flag;
	}
	return !value || (put_text(p, texts + n->text, is_first ? 0 : n->size) &&
			  put_hex(p, value, &unboxed));
}

static bool put_symbol(struct printer *p, const struct pp_node *n, const struct box *box)
{
	uint64_t value, symbol;

	if (!pp_evaluate(&p->values, n->first, &value))
		return false;
	for (uint32_t i = n->second; i != PP_NONE; i = p->values.f->nodes[i].next) {
		const struct pp_node *pair = &p->values.f->nodes[i];

		if (pp_evaluate(&p->values, pair->first, &symbol) && value == symbol)
			return put_in_box(p, p->values.f->texts + pair->text, pair->size, box);
	}
	return put_hex(p, value, &unboxed);
}

/* --- arrays --- */

/* Returns the field that a node is, or NULL. */
static const struct pd_item *field_of(const struct printer *p, uint32_t i)
{
	const struct pp_node *n = &p->values.f->nodes[i];

	return n->kind == PP_NODE_CAST ? field_of(p, n->first) :
	       n->kind == PP_NODE_FIELD ? p->values.slots[n->number] : NULL;
}

/* Gets the i-th byte of a field. Returns false if it has none. */
static bool byte_of(struct printer *p, const struct pd_item *field, uint64_t i, uint64_t *out)
{
	const struct pd_item *member;

	if (field->kind == PD_ITEM_BYTES || field->kind == PD_ITEM_TEXT) {
		*out = i < field->bytes.size ? field->bytes.data[i] : 0;
		return i < field->bytes.size;
	}
	member = pp_find_element(&p->values, field, i);
	*out = member ? member->number : 0;
	return member && *out <= UINT8_MAX;
}

static bool put_bytes(struct printer *p, const struct pp_node *n)
{
	const struct pd_item *field = field_of(p, n->first);
	uint64_t size, byte;
	char text[4];

	if (!field || !pp_evaluate(&p->values, n->second, &size) || size > PP_PRINTED_MOST)
		return false;
	for (uint64_t i = 0; i < size; i++) {
		if (!byte_of(p, field, i, &byte))
			return false;
		snprintf(text, sizeof(text), "%02x", (unsigned int)byte);
		if (!put_text(p, p->values.f->texts + n->text, i ? n->size : 0) ||
		    !put_text(p, text, 2))
			return false;
	}
	return true;
}

static bool put_array(struct printer *p, const struct pp_node *n)
{
	const struct pd_item *field = field_of(p, n->first), *member = NULL;
	uint64_t count, size;

	if (!field || field->kind != PD_ITEM_ARRAY || !pp_evaluate(&p->values, n->second, &count) ||
	    !pp_evaluate(&p->values, n->third, &size) || count > field->count || !size || size > 8)
		return false;
	if (!put_text(p, "{", 1))
		return false;
	while (count--) {
		if (!put_text(p, ",", member ? 1 : 0))
			return false;
		member = pd_item_next(field, member);
		if (!put_hex(p, pp_cast(member->number, size * 8), &unboxed))
			return false;
	}
	return put_text(p, "}", 1);
}

/* --- conversions --- */

static bool put_string(struct printer *p, uint32_t i, const struct box *box)
{
	const struct pp_node *n = &p->values.f->nodes[i];
	uint64_t value;

	switch (n->kind) {
	case PP_NODE_TEXT:
		return put_in_box(p, p->values.f->texts + n->text, n->size, box);
	case PP_NODE_FIELD:
		if (p->values.slots[n->number]->kind != PD_ITEM_TEXT)
			return false;
		return put_in_box(p, (const char *)p->values.slots[n->number]->bytes.data,
				  p->values.slots[n->number]->bytes.size, box);
	case PP_NODE_CAST:
		return put_string(p, n->first, box);
	case PP_NODE_CHOICE:
		return pp_evaluate(&p->values, n->first, &value) &&
		       put_string(p, value ? n->second : n->third, box);
	case PP_NODE_FLAGS:
		return put_flags(p, n, box);
	case PP_NODE_SYMBOL:
		return put_symbol(p, n, box);
	case PP_NODE_HEX:
		return put_bytes(p, n);
	case PP_NODE_ARRAY:
		return put_array(p, n);
	default:	/* a number is no text */
		return false;
	}
}

/* %ps and %pS: the function at an address, with the offset in it. */
static bool put_function(struct printer *p, const struct pp_conversion *c, uint64_t address,
			 const struct box *box)
{
	uint64_t offset = 0;
	const char *name = p->out->name ? p->out->name(p->out->ctx, address, &offset) : NULL;
	char text[32];

	if (!name)
		return put_hex(p, address, box);
	snprintf(text, sizeof(text), "+0x%llx", (unsigned long long)offset);
	return put_text(p, name, strlen(name)) &&
	       put_text(p, text, c->letter == 'S' ? strlen(text) : 0);
}

/* Gets the bytes of a field from `from` on. Returns false if it has fewer. */
static bool get_bytes(struct printer *p, const struct pd_item *field, uint64_t from, uint8_t *bytes,
		      size_t size)
{
	uint64_t byte;

	for (size_t i = 0; i < size; i++) {
		if (!field || !byte_of(p, field, from + i, &byte))
			return false;
		bytes[i] = (uint8_t)byte;
	}
	return true;
}

static bool put_network_address(struct printer *p, const struct pd_item *field, uint64_t from,
				int family, const struct box *box)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t address[16];

	return get_bytes(p, field, from, address, family == AF_INET ? 4 : 16) &&
	       inet_ntop(family, address, text, sizeof(text)) &&
	       put_in_box(p, text, strlen(text), box);
}

/* %pISpc: a struct sockaddr_in or sockaddr_in6. The family is in the file's byte order, and below
 * 256. */
static bool put_socket_address(struct printer *p, const struct pd_item *field)
{
	char text[16];
	uint8_t head[4];
	bool is_v6;

	if (!get_bytes(p, field, 0, head, sizeof(head)))
		return false;
	is_v6 = (head[0] | head[1]) == AF_INET6;
	if (!is_v6 && (head[0] | head[1]) != AF_INET)
		return true;
	snprintf(text, sizeof(text), is_v6 ? "]:%d" : ":%d", head[2] << 8 | head[3]);
	return put_text(p, "[", is_v6) &&
	       put_network_address(p, field, is_v6 ? 8 : 4, is_v6 ? AF_INET6 : AF_INET, &unboxed) &&
	       put_text(p, text, strlen(text));
}

/* %pM and %pU: bytes in hex, with `separator` where `before` has a bit. */
static bool put_hex_bytes(struct printer *p, const struct pd_item *field, size_t size,
			  char separator, uint32_t before)
{
	uint8_t bytes[16];
	char text[4];

	if (!get_bytes(p, field, 0, bytes, size))
		return false;
	for (size_t i = 0; i < size; i++) {
		snprintf(text, sizeof(text), "%c%02x", separator, bytes[i]);
		if (!put_text(p, text + !(before >> i & 1), 2 + (before >> i & 1)))
			return false;
	}
	return true;
}

/* %p with letters: bytes of a field. */
static bool put_pointed(struct printer *p, const struct pp_conversion *c, const struct box *box)
{
	const struct pd_item *field = field_of(p, c->from);

	switch (c->letter) {
	case '4':
	case '6':
		return put_network_address(p, field, 0, c->letter == '4' ? AF_INET : AF_INET6,
					   box);
	case 'I':
		return put_socket_address(p, field);
	case 'M':
		return put_hex_bytes(p, field, 6, ':', 0x3e);
	default:
		return put_hex_bytes(p, field, 16, '-', 0x550);
	}
}

/* Writes the sign or prefix of a number, and its value without sign. Returns the size. */
static size_t write_prefix(char *to, const struct pp_conversion *c, uint64_t *n)
{
	const bool is_signed = c->letter == 'd' || c->letter == 'i';
	const bool is_below_0 = is_signed && (int64_t)*n < 0;

	if (is_below_0)
		*n = 0 - *n;
	if (is_below_0 || (is_signed && (c->has_plus || c->has_blank))) {
		*to = is_below_0 ? '-' : c->has_plus ? '+' : ' ';
		return 1;
	}
	if ((c->letter == 'p' || c->has_prefix) && strchr("pxX", c->letter) && *n) {
		to[0] = '0';
		to[1] = c->letter == 'X' ? 'X' : 'x';
		return 2;
	}
	return 0;
}

static size_t write_digits(char text[32], char letter, uint64_t n)
{
	const unsigned long long value = n;

	return (size_t)(letter == 'x' || letter == 'p' ? snprintf(text, 32, "%llx", value) :
			letter == 'X' ? snprintf(text, 32, "%llX", value) :
			letter == 'o' ? snprintf(text, 32, "%llo", value) :
					snprintf(text, 32, "%llu", value));
}

/* Puts prefix, zeros and digits as printf() does. */
static bool put_number(struct printer *p, const struct pp_conversion *c, uint64_t n,
		       const struct box *box)
{
	const uint64_t of_bits = c->bits |
				 (c->letter == 'd' || c->letter == 'i' ? PP_CAST_SIGNED : 0);
	char digits[32], text[PP_PRINTED_MOST / 8];
	size_t size, prefix, zeros = 0;

	if (c->letter != 'p')
		n = pp_cast(n, of_bits);
	else if (!n)
		return put_in_box(p, "(nil)", 5, &(struct box){ box->width, -1, box->is_left });
	prefix = write_prefix(text, c, &n);
	size = write_digits(digits, c->letter, n);
	if (box->precision > (int)size)
		zeros = (size_t)box->precision - size;
	else if (box->precision < 0 && c->has_zeros && !box->is_left &&
		 box->width > (int)(prefix + size))
		zeros = (size_t)box->width - prefix - size;
	if (prefix + zeros + size > sizeof(text))
		return false;
	memset(text + prefix, '0', zeros);
	memcpy(text + prefix + zeros, digits, size);
	return put_in_box(p, text, prefix + zeros + size,
			  &(struct box){ box->width, -1, box->is_left });
}

/* A number of columns that is given, or an argument. */
static bool columns_of(struct printer *p, int given, uint32_t from, int *out)
{
	uint64_t n;

	*out = given;
	if (from == PP_NONE)
		return true;
	if (!pp_evaluate(&p->values, from, &n) || n > PP_PRINTED_MOST)
		return false;
	*out = (int)n;
	return true;
}

static bool put_conversion(struct printer *p, const struct pp_conversion *c)
{
	struct box box = { .is_left = c->is_left };
	uint64_t n;

	if (!put_text(p, p->values.f->texts + c->text, c->size))
		return false;
	if (!c->letter)
		return true;
	if (!columns_of(p, c->width, c->width_from, &box.width) ||
	    !columns_of(p, c->precision, c->precision_from, &box.precision))
		return false;
	if (c->letter == 's')
		return put_string(p, c->from, &box);
	if (strchr("46IMU", c->letter))
		return put_pointed(p, c, &box);
	if (!pp_evaluate(&p->values, c->from, &n))
		return false;
	if (c->letter == 'c')
		return put_in_box(p, &(char){ (char)n }, 1, &box);
	if (c->letter == 'S' || c->letter == 'F')
		return put_function(p, c, n, &box);
	return put_number(p, c, n, &box);
}

bool pp_print_fields(const struct pp_print_format *f, const struct pd_item *fields,
		     struct pp_printed *out)
{
	struct printer p = { .values.f = f, .out = out };

	out->size = 0;
	if (!pp_find_fields(&p.values, fields))
		return false;
	for (size_t i = 0; i < f->nr_conversions; i++)
		if (!put_conversion(&p, &f->conversions[i]))
			return false;
	return p.values.steps <= PP_STEPS_MOST;
}
