/* pencode_json.h - json-c's tree as a source of values: a pd_node is a struct json_object. */
#ifndef PENCODE_JSON_H
#define PENCODE_JSON_H

#include "pd/values.h"

extern const struct pd_values json_values;

#endif
