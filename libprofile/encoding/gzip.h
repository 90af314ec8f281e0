/* gzip.h - output that is compressed. */
#ifndef PP_GZIP_H
#define PP_GZIP_H

#include "encoding/out.h"

/* Runs a writer whose output becomes a gzip file without a time or a name: the same bytes every
 * time. Returns what the writer returned, or -1 without memory. */
int pp_write_gzip(struct pp_out *out, int (*write)(struct pp_out *));

#endif
