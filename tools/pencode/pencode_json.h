/* pencode_json.h - parse JSON with json-c; its tree is a source of values: a pd_node is a struct
 * json_object.
 */
#ifndef PD_TOOLS_PENCODE_JSON_H
#define PD_TOOLS_PENCODE_JSON_H

#include <stddef.h>

#include "pd/values.h"

struct json_object;
struct json_tokener;

extern const struct pd_values json_values;

/* Makes json-c open the files that it opens once; must be called before the sandbox is entered. */
void json_prepare(void);

/* Parses one value of strict JSON in UTF-8, at most INT_MAX bytes; sets the tokener's flags.
 * Returns the value, for json_object_put(), or NULL; then json_parse_error() returns the reason.
 * Same result with json-c 0.15 to 0.18. */
struct json_object *json_parse(struct json_tokener *tokener, const char *text, size_t size);
const char *json_parse_error(struct json_tokener *tokener);

/* Returns the number of keys at any depth: fewer than in the text if one is duplicated. */
size_t json_nr_members(struct json_object *o);

#endif
