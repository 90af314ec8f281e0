/* describe_text.h - build JSON text in memory and format it. */
#ifndef PD_SCHEMA_DESCRIBE_TEXT_H
#define PD_SCHEMA_DESCRIBE_TEXT_H

#include "base/buf.h"
#include "pd/output.h"

/* Append compact JSON. Commas are inserted except after an opening bracket or a colon. */
void pd_text_open(struct pd_buf *b, char bracket);
void pd_text_close(struct pd_buf *b, char bracket);
void pd_text_key(struct pd_buf *b, const char *key);
void pd_text_key2(struct pd_buf *b, const char *key, const char *suffix);
void pd_text_string(struct pd_buf *b, const char *text);
void pd_text_unsigned(struct pd_buf *b, uint64_t v);
void pd_text_signed(struct pd_buf *b, int64_t v);
/* Appends "key":"text". */
void pd_text_member(struct pd_buf *b, const char *key, const char *text);
/* Appends JSON text, with ' for ". */
void pd_text_json(struct pd_buf *b, const char *json);
/* The same with printf conversions, at most 1000 bytes. */
__attribute__((format(printf, 2, 3))) void pd_text_format(struct pd_buf *b, const char *json, ...);

/* Formats the JSON: two spaces per level; values that fit into 120 columns on one line. */
void pd_text_lay_out(struct pd_bytes json, struct pd_buf *out);

#endif
