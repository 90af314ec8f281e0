/* script_head.h - lines about the recording, above the text of its samples. */
#ifndef PP_SCRIPT_HEAD_H
#define PP_SCRIPT_HEAD_H

#include "encoding/out.h"

/* Writes what is known of the recording. Returns 0, or -1 without memory. */
int pp_put_script_head(struct pp_out *out, struct pd_reader *r);

#endif
