/* pencode_json.h - json-c's tree as a source of values: a pd_node is a struct json_object. */
#ifndef PENCODE_JSON_H
#define PENCODE_JSON_H

#include "pd/values.h"

struct json_object;

extern const struct pd_values json_values;

/* Keys in it, in whatever depth: fewer than its text has where one stands twice. */
size_t json_nr_members(struct json_object *o);

#endif
