/* json.h - strings of JSON. */
#ifndef PP_JSON_H
#define PP_JSON_H

#include "encoding/out.h"

/* Writes a string with its quotes. Controls, also those of bidirectional text, are escaped; bytes
 * that are no UTF-8 become U+FFFD. */
void pp_json_string(struct pp_out *out, struct pd_bytes text);

/* The same for a text that ends with NUL. */
void pp_json_text(struct pp_out *out, const char *text);

#endif
