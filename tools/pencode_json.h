/* pencode_json.h - parses JSON with json-c, whose tree is a source of values: a pd_node is a struct json_object. */
#ifndef PD_TOOLS_PENCODE_JSON_H
#define PD_TOOLS_PENCODE_JSON_H

#include <stddef.h>

#include "pd/values.h"

struct json_object;
struct json_tokener;

extern const struct pd_values json_values;

/* Opens what json-c opens once; call it before the sandbox. */
void json_prepare(void);

/* Parses one value of strict JSON in UTF-8, at most INT_MAX bytes, and sets the tokener's flags for that. Returns the value,
 * for json_object_put(), or NULL: then json_parse_error() says why. The same with json-c 0.15 to 0.18. */
struct json_object *json_parse(struct json_tokener *tokener, const char *text, size_t size);
const char *json_parse_error(struct json_tokener *tokener);

/* Keys in it, in whatever depth: fewer than its text has where one stands twice. */
size_t json_nr_members(struct json_object *o);

#endif
