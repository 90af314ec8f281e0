/* describe_values.h - members that the schemas of several parts have, for pd_text_json(). */
#ifndef PD_SCHEMA_DESCRIBE_VALUES_H
#define PD_SCHEMA_DESCRIBE_VALUES_H

#include "schema/describe.h"

#define NUMBER_64 "'type':'integer'," PD_RANGE_U64
#define HEX "'type':'string','pattern':'" PD_PATTERN_HEX "'"
#define SOME_HEX "'type':'string','pattern':'^([0-9a-f]{2})+$'"
#define TEXT_HEX "'description':'the exact bytes, where they are not UTF-8'," SOME_HEX
#define FRAME_ID "^([0-9]+|[A-Z_]+):[0-9a-f]+(@[0-9]+(t[0-9]+)?)?r?g?m?s?d?$"
#define KIND(name) "'kind':{'description':'in JSON Lines only','const':'" name "'}"
#define CLOSED "'type':'object','additionalProperties':false,"

#endif
