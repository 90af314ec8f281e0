/* value_tree.c - struct pd_value as a source of values for packing. */
#include <string.h>

#include "pd/write.h"

static enum pd_node_type value_type(pd_node n)
{
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
	return ((const struct pd_value *)n)->number;
}

static double value_real(pd_node n)
{
	(void)n;
	return 0;
}

static struct pd_bytes value_text(pd_node n)
{
	return ((const struct pd_value *)n)->bytes;
}

static pd_node value_member(pd_node object, const char *name)
{
	const struct pd_value *v = object;

	for (size_t i = 0; v && v->kind == PD_VALUE_OBJECT && i < v->count; i++)
		if (v->items[i].name && strcmp(v->items[i].name, name) == 0)
			return &v->items[i];
	return NULL;
}

static size_t value_length(pd_node array)
{
	return ((const struct pd_value *)array)->count;
}

static pd_node value_item(pd_node array, size_t i, uint64_t *number)
{
	const struct pd_value *v = array;

	if (v->kind == PD_VALUE_ARRAY)
		return &v->items[i];
	*number = v->numbers[i];
	return NULL;
}

static bool value_member_at(pd_node object, size_t i, const char **name, pd_node *value)
{
	const struct pd_value *v = object;

	if (v->kind != PD_VALUE_OBJECT || i >= v->count)
		return false;
	*name = v->items[i].name;
	*value = &v->items[i];
	return true;
}

const struct pd_values pd_value_values = {
	value_type, value_number, value_real, value_text, value_member, value_length, value_item, value_member_at,
};
