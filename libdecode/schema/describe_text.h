/* describe_text.h - JSON text that is built in memory and then laid out for people. */
#ifndef PD_SCHEMA_DESCRIBE_TEXT_H
#define PD_SCHEMA_DESCRIBE_TEXT_H

#include "base/buf.h"
#include "pd/output.h"

/* Compact JSON. Commas come by themselves: none behind an opening bracket or a colon. */
void pd_text_open(struct pd_buf *b, char bracket);
void pd_text_close(struct pd_buf *b, char bracket);
void pd_text_key(struct pd_buf *b, const char *key);
void pd_text_key2(struct pd_buf *b, const char *key, const char *suffix);
void pd_text_string(struct pd_buf *b, const char *text);
void pd_text_unsigned(struct pd_buf *b, uint64_t v);
void pd_text_signed(struct pd_buf *b, int64_t v);
/* "key":"text" */
void pd_text_member(struct pd_buf *b, const char *key, const char *text);
/* JSON as it is, with ' for ". */
void pd_text_json(struct pd_buf *b, const char *json);
/* The same with printf's conversions; at most 1000 bytes of it. */
__attribute__((format(printf, 2, 3))) void pd_text_format(struct pd_buf *b, const char *json, ...);

/* Lays the JSON out: two spaces a level, what fits in a line of 120 columns on one line. */
void pd_text_lay_out(struct pd_bytes json, struct pd_buf *out);

#endif
