/* pencode_json.c - json-c's tree as a source of values. */
#include "pencode_json.h"

#include <json-c/json.h>
#include <string.h>

static struct json_object *object_of(pd_node n)
{
	return (struct json_object *)n;	/* json-c's readers are not const */
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
	(void)number;
	return json_object_array_get_idx(object_of(n), i);
}

static bool json_member_at(pd_node n, size_t i, const char **name, pd_node *value)
{
	struct json_object_iterator at = json_object_iter_begin(object_of(n));
	struct json_object_iterator end = json_object_iter_end(object_of(n));

	while (i-- && !json_object_iter_equal(&at, &end))
		json_object_iter_next(&at);
	if (json_object_iter_equal(&at, &end))
		return false;
	*name = json_object_iter_peek_name(&at);
	*value = json_object_iter_peek_value(&at);
	return true;
}

const struct pd_values json_values = {
	json_type_of, json_number, json_real, json_text, json_member, json_length, json_item, json_member_at,
};
