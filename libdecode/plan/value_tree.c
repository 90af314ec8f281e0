/* value_tree.c - struct pd_value as a source of values for packing. */
#include <string.h>

#include "pd/write.h"

static enum pd_node_type value_type(pd_node n)
{
	if (!n)
		return PD_NODE_NULL;
	switch (((const struct pd_value *)n)->kind) {
	case PD_VALUE_NUMBER:
		return PD_NODE_NUMBER;
	case PD_VALUE_TEXT:
		return PD_NODE_TEXT;
	case PD_VALUE_BYTES:
		return PD_NODE_BYTES;
	case PD_VALUE_OBJECT:
		return PD_NODE_OBJECT;
	default:
		return PD_NODE_ARRAY;
	}
}

static uint64_t value_number(pd_node n)
{
	return n ? ((const struct pd_value *)n)->number : 0;
}

static double value_real(pd_node n)
{
	(void)n;
	return 0;
}

static struct pd_bytes value_text(pd_node n)
{
	return n ? ((const struct pd_value *)n)->bytes : (struct pd_bytes){ NULL, 0 };
}

static pd_node value_member(pd_node object, const char *name)
{
	const struct pd_value *v = object;

	if (!v || !name || v->kind != PD_VALUE_OBJECT || !v->items)
		return NULL;
	for (size_t i = 0; i < v->count; i++)
		if (v->items[i].name && strcmp(v->items[i].name, name) == 0)
			return &v->items[i];
	return NULL;
}

static size_t value_length(pd_node array)
{
	const struct pd_value *v = array;

	return v && v->items ? v->count : 0;
}

static pd_node value_item(pd_node array, size_t i, uint64_t *number)
{
	const struct pd_value *v = array;

	if (!v || !v->items || i >= v->count)
		return NULL;
	if (v->kind == PD_VALUE_ARRAY)
		return &v->items[i];
	if (number)
		*number = v->numbers[i];
	return NULL;
}

static bool value_member_at(pd_node object, size_t i, const char **name, pd_node *value)
{
	const struct pd_value *v = object;

	if (!v || v->kind != PD_VALUE_OBJECT || !v->items || i >= v->count)
		return false;
	if (name)
		*name = v->items[i].name;
	if (value)
		*value = &v->items[i];
	return true;
}

const struct pd_values pd_value_values = {
	value_type, value_number, value_real, value_text, value_member, value_length, value_item,
	value_member_at,
};
