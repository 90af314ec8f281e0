/* describe_row.c - a row of a layout as JSON Schema: the value that json_visit.c writes for it. */
#include "schema/describe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t max_value(unsigned int bits)
{
	return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1;
}

/* Returns the maximum number of decimal digits. */
static unsigned int max_digits(unsigned int bits)
{
	unsigned int n = 1;

	for (uint64_t v = max_value(bits); v >= 10; v /= 10)
		n++;
	return n;
}

static void write_number(unsigned int bits, enum pd_show show, struct pd_buf *b)
{
	pd_text_member(b, "type", "integer");
	pd_text_key(b, "minimum");
	if (show == PD_SIGNED)
		pd_text_signed(b, -(int64_t)(max_value(bits) / 2) - 1);
	else
		pd_text_unsigned(b, 0);
	pd_text_key(b, "maximum");
	pd_text_unsigned(b, show == PD_SIGNED ? max_value(bits) / 2 : max_value(bits));
}

static void write_address(unsigned int width, struct pd_buf *b)
{
	pd_text_format(b, "'type':'string','pattern':'^0x(0|[1-9a-f][0-9a-f]{0,%u})$'",
		       2 * width - 1);
}

/* A number that equals the name of another value is written in hex. */
static void write_ambiguous_numbers(const struct pd_name *names, struct pd_buf *b)
{
	for (const struct pd_name *n = names; n->name; n++) {
		char *end;
		uint64_t v = strtoull(n->name, &end, 10);

		if (!*end && !pd_name_of(names, v))
			pd_text_format(b, "'0x%" PRIx64 "'", v);
	}
}

static void write_name_list(const struct pd_name *names, struct pd_buf *b)
{
	pd_text_key(b, "enum");
	pd_text_open(b, '[');
	for (const struct pd_name *n = names; n->name; n++)
		pd_text_string(b, n->name);
	write_ambiguous_numbers(names, b);
	pd_text_close(b, ']');
}

/* For few bits: all names, and the numbers without a name. */
static void write_enum_values(const struct pd_name *names, unsigned int bits, struct pd_buf *b)
{
	pd_text_key(b, "enum");
	pd_text_open(b, '[');
	for (uint64_t v = 0; v <= max_value(bits); v++)
		if (pd_name_of(names, v))
			pd_text_string(b, pd_name_of(names, v));
		else
			pd_text_format(b, "'%" PRIu64 "'", v);
	pd_text_close(b, ']');
}

void pd_describe_enum(const struct pd_name *names, unsigned int bits, struct pd_buf *b)
{
	pd_text_member(b, "type", "string");
	if (bits <= 5) {
		write_enum_values(names, bits, b);
		return;
	}
	if (names->name) {
		pd_text_key(b, "anyOf");
		pd_text_open(b, '[');
		pd_text_open(b, '{');
		write_name_list(names, b);
		pd_text_close(b, '}');
		pd_text_open(b, '{');
	}
	pd_text_format(b, "'pattern':'^(0|[1-9][0-9]{0,%u})$'", max_digits(bits) - 1);
	if (names->name) {
		pd_text_close(b, '}');
		pd_text_close(b, ']');
	}
}

void pd_describe_names(const struct pd_name *names, struct pd_buf *b)
{
	pd_text_member(b, "type", "array");
	pd_text_key(b, "items");
	if (!names->name) {
		pd_text_json(b, "false");
		return;
	}
	pd_text_open(b, '{');
	pd_text_key(b, "enum");
	pd_text_open(b, '[');
	for (; names->name; names++)
		if (names->value)
			pd_text_string(b, names->name);
	pd_text_close(b, ']');
	pd_text_close(b, '}');
	pd_text_json(b, "'uniqueItems':true");
}

static void write_flags(const struct pd_field *row, struct pd_buf *b)
{
	pd_text_json(b, "'type':'object','additionalProperties':false,'required':['raw','names']");
	pd_text_key(b, "properties");
	pd_text_open(b, '{');
	pd_text_key(b, "raw");
	pd_text_open(b, '{');
	write_number(8u * row->width, PD_DEC, b);
	pd_text_close(b, '}');
	pd_text_key(b, "names");
	pd_text_open(b, '{');
	pd_describe_names(row->names, b);
	pd_text_close(b, '}');
	pd_text_close(b, '}');
}

void pd_describe_bits(const struct pd_bits *bits, struct pd_buf *b)
{
	pd_text_open(b, '{');
	switch (bits->show) {
	case PD_BIT_ENUM:
		pd_describe_enum(bits->names, bits->width, b);
		break;
	case PD_BIT_LIST:
		pd_describe_names(bits->names, b);
		break;
	case PD_BIT_ENUM_LIST:
		pd_text_json(b, "'type':'array','maxItems':1,'items':{");
		pd_describe_enum(bits->names, bits->width, b);
		pd_text_close(b, '}');
		break;
	default:
		if (bits->show == PD_BIT_RESERVED)
			pd_text_member(b, "description", "reserved bits, if not 0");
		write_number(bits->width, PD_DEC, b);
		break;
	}
	pd_text_close(b, '}');
}

/* Writes the schema of an object of a number's parts. */
static void write_parts(const struct pd_field *row, struct pd_buf *b)
{
	const bool raw = row->show == PD_BITS_RAW;

	pd_text_json(b, "'type':'object','additionalProperties':false,'required':[");
	if (raw)
		pd_text_string(b, "raw");
	for (const struct pd_bits *p = row->bits; p->name; p++)
		if (p->show != PD_BIT_RESERVED)
			pd_text_string(b, p->name);
	pd_text_close(b, ']');
	pd_text_key(b, "properties");
	pd_text_open(b, '{');
	if (raw) {
		pd_text_key(b, "raw");
		pd_text_open(b, '{');
		write_number(8u * row->width, PD_DEC, b);
		pd_text_close(b, '}');
	}
	for (const struct pd_bits *p = row->bits; p->name; p++) {
		if (raw && p->show == PD_BIT_RESERVED)
			continue;
		pd_text_key(b, p->name);
		pd_describe_bits(p, b);
	}
	pd_text_close(b, '}');
}

static void write_shown_number(const struct pd_field *row, struct pd_buf *b)
{
	switch (row->show) {
	case PD_HEX:
		write_address(row->width, b);
		break;
	case PD_ENUM:
		pd_describe_enum(row->names, 8u * row->width, b);
		break;
	case PD_FLAGS:
		write_flags(row, b);
		break;
	case PD_FLOAT:
		pd_text_json(b, "'type':['number','null']");
		break;
	case PD_MARKED:
		pd_text_json(b, "'type':'string','anyOf':[{");
		write_name_list(row->names, b);
		pd_text_close(b, '}');
		pd_text_json(b, "{'pattern':'" PD_PATTERN_ADDRESS "'}]");
		break;
	case PD_BITS_OBJECT:
	case PD_BITS_RAW:
		write_parts(row, b);
		break;
	case PD_ORDER:
		pd_text_json(b, "'enum':['little','big']");
		break;
	default:
		write_number(8u * row->width, row->show, b);
		break;
	}
}

/* Writes the schema of hex bytes, with the length that the layout allows. */
static void write_hex(const struct pd_field *row, struct pd_buf *b)
{
	pd_text_member(b, "type", "string");
	if (row->kind == PD_AREA)
		pd_text_format(b, "'pattern':'^([0-9a-f]{2}){1,%u}$'", row->width);
	else if (row->count.from == PD_COUNT_FIXED)
		pd_text_format(b, "'pattern':'^[0-9a-f]{%" PRIu64 "}$'", 2 * row->count.value);
	else
		pd_text_format(b, "'pattern':'%s'", PD_PATTERN_HEX);
}

static void write_array(const struct pd_field *row, struct pd_arena *arena, struct pd_buf *b)
{
	const struct pd_field *only = row->fields;

	pd_text_member(b, "type", "array");
	pd_text_key(b, "items");
	if (!only->name[0] && only->kind != PD_GROUP) {
		pd_describe_row(only, arena, b);
		return;
	}
	pd_text_open(b, '{');
	pd_describe_object(row->fields, arena, b);
	pd_text_close(b, '}');
}

static void write_value(const struct pd_field *row, struct pd_arena *arena, struct pd_buf *b)
{
	switch (row->kind) {
	case PD_UINT:
		write_shown_number(row, b);
		break;
	case PD_NUMBERS:
		pd_text_json(b, "'type':'array','items':{");
		write_shown_number(row, b);
		pd_text_close(b, '}');
		break;
	case PD_REGISTERS:
		pd_text_json(b, "'type':'object','propertyNames':{'pattern':'^[$]?[a-z0-9_]+$'},"
				"'additionalProperties':{");
		write_shown_number(row, b);
		pd_text_close(b, '}');
		break;
	case PD_BYTES:
	case PD_AREA:
		write_hex(row, b);
		break;
	case PD_ARRAY:
		write_array(row, arena, b);
		break;
	case PD_STRUCT:
		pd_describe_object(row->fields, arena, b);
		break;
	case PD_FEATURE:
		pd_text_json(b,
			     "'$ref':'features.schema.json','minProperties':1,'maxProperties':3");
		break;
	default:
		pd_text_member(b, "type", "string");
		break;
	}
}

/* An attr is described once, in its own schema. */
static bool is_attr(const struct pd_field *row)
{
	return row == pd_attr_fields || row == pd_file_attr_fields;
}

void pd_describe_row(const struct pd_field *row, struct pd_arena *arena, struct pd_buf *b)
{
	pd_text_open(b, '{');
	if (row->doc && row->doc[0])
		pd_text_member(b, "description", row->doc);
	if (is_attr(row))
		pd_text_member(b, "$ref", "attr.schema.json#/$defs/perf_event_attr");
	else
		write_value(row, arena, b);
	pd_text_close(b, '}');
}
