/* pencode_json.c - parse JSON with json-c and expose its tree as values. */
#include "pencode/pencode_json.h"

#include <json-c/json.h>
#include <string.h>

/* Represents null in an array, for which json-c returns NULL. */
static const char null_item;

/* Drops const, which json-c's getters do not take. */
static struct json_object *object_of(pd_node n)
{
	return n == &null_item ? NULL : (struct json_object *)n;
}

static enum pd_node_type json_type_of(pd_node n)
{
	switch (json_object_get_type(object_of(n))) {
	case json_type_boolean:
	case json_type_int:
		return PD_NODE_NUMBER;
	case json_type_double:
		return PD_NODE_REAL;
	case json_type_string:
		return PD_NODE_TEXT;
	case json_type_object:
		return PD_NODE_OBJECT;
	case json_type_array:
		return PD_NODE_ARRAY;
	default:
		return PD_NODE_NULL;
	}
}

static uint64_t json_number(pd_node n)
{
	int64_t v = json_object_get_int64(object_of(n));

	return v < 0 ? (uint64_t)v : json_object_get_uint64(object_of(n));
}

static double json_real(pd_node n)
{
	return json_object_get_double(object_of(n));
}

static struct pd_bytes json_text(pd_node n)
{
	return (struct pd_bytes){ (const uint8_t *)json_object_get_string(object_of(n)),
				  (size_t)json_object_get_string_len(object_of(n)) };
}

static pd_node json_member(pd_node n, const char *name)
{
	struct json_object *value = NULL;

	return json_object_object_get_ex(object_of(n), name, &value) ? value : NULL;
}

static size_t json_length(pd_node n)
{
	return json_object_array_length(object_of(n));
}

static pd_node json_item(pd_node n, size_t i, uint64_t *number)
{
	struct json_object *item = json_object_array_get_idx(object_of(n), i);

	(void)number;
	return item ? (pd_node)item : &null_item;
}

/* Caches the last position, since members are visited in order. */
static bool json_member_at(pd_node n, size_t i, const char **name, pd_node *value)
{
	static _Thread_local struct {
		pd_node object;
		size_t next;
		struct lh_entry *at;
	} last;
	struct lh_entry *at = json_object_get_object(object_of(n))->head;

	if (i && last.object == n && last.next == i)
		at = last.at;
	else
		for (size_t k = 0; at && k < i; k++)
			at = at->next;
	if (!at)
		return false;
	last.object = n;
	last.next = i + 1;
	last.at = at->next;
	*name = lh_entry_k(at);
	*value = lh_entry_v(at);
	return true;
}

/* The first key makes json-c 0.15 open /dev/urandom, to seed its hash tables. */
void json_prepare(void)
{
	struct json_object *o = json_object_new_object();

	if (o)
		json_object_object_add(o, "", NULL);
	json_object_put(o);
}

/* Returns the number of leading ASCII bytes. */
static size_t ascii_length(const char *text, size_t size)
{
	size_t n = 0;

	for (uint64_t word; size - n >= sizeof(word); n += sizeof(word)) {
		memcpy(&word, text + n, sizeof(word));
		if (word & 0x8080808080808080)
			break;
	}
	while (n < size && (unsigned char)text[n] < 0x80)
		n++;
	return n;
}

/* Returns the number of leading bytes that are not ASCII. */
static size_t above_ascii_length(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && (unsigned char)text[n] >= 0x80)
		n++;
	return n;
}

/* Bytes above 0x7f are parsed without strict mode, in which json-c 0.18 refuses them. Strict mode
 * changes nothing inside a string, and outside they are errors in any mode. Escaping them instead
 * fails: json-c decodes escapes of U+1D800 and the like to U+FFFD. */
struct json_object *json_parse(struct json_tokener *tokener, const char *text, size_t size)
{
	struct json_object *o = NULL;
	int flags = JSON_TOKENER_VALIDATE_UTF8;

	json_tokener_reset(tokener);
	for (size_t at = 0, n; at < size && !o; at += n) {
		flags ^= JSON_TOKENER_STRICT;
		n = (flags & JSON_TOKENER_STRICT ? ascii_length : above_ascii_length)(text + at,
										      size - at);
		json_tokener_set_flags(tokener, flags);
		o = json_tokener_parse_ex(tokener, text + at, (int)n);
		if (!o && json_tokener_get_error(tokener) != json_tokener_continue)
			break;
	}
	return o;
}

const char *json_parse_error(struct json_tokener *tokener)
{
	const enum json_tokener_error error = json_tokener_get_error(tokener);

	switch (error) {
	case json_tokener_error_parse_utf8_string:
		return "the text is not valid UTF-8";
	case json_tokener_error_depth:
		return "nested too deeply";
	case json_tokener_success:	/* and no object */
		return "out of memory";
	default:
		return json_tokener_error_desc(error);
	}
}

size_t json_nr_members(struct json_object *o)
{
	size_t n = 0;

	switch (json_object_get_type(o)) {
	case json_type_object:
		for (struct lh_entry *at = json_object_get_object(o)->head; at; at = at->next)
			n += 1 + json_nr_members((struct json_object *)lh_entry_v(at));
		return n;
	case json_type_array:
		for (size_t i = 0, end = json_object_array_length(o); i < end; i++)
			n += json_nr_members(json_object_array_get_idx(o, i));
		return n;
	default:
		return 0;
	}
}

const struct pd_values json_values = {
	json_type_of, json_number, json_real, json_text, json_member, json_length, json_item,
	json_member_at,
};
