/* gzip.h - output that is compressed. */
#ifndef PP_GZIP_H
#define PP_GZIP_H

#include "encoding/out.h"

enum pp_wrapper {
	PP_GZIP,	/* a gzip file without a time or a name */
	PP_ZLIB,	/* a zlib stream */
};

/* Runs a writer whose output is compressed: the same bytes every time. Returns what the writer
 * returned, or -1 without memory. */
int pp_write_compressed(struct pp_out *out, enum pp_wrapper wrapper,
			int (*write)(struct pp_out *out, void *ctx), void *ctx);

#endif
