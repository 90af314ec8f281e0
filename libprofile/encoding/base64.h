/* base64.h - output as text of 64 characters (RFC 4648, section 4). */
#ifndef PP_BASE64_H
#define PP_BASE64_H

#include "encoding/out.h"

/* Runs a writer whose output is written as base64, in one line. Returns what it returned. */
int pp_write_base64(struct pp_out *out, int (*write)(struct pp_out *out, void *ctx), void *ctx);

#endif
