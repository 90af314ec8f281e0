/* magic.h - the first bytes of a recording. */
#ifndef PD_INPUT_MAGIC_H
#define PD_INPUT_MAGIC_H

#include <stdbool.h>

#include "pd/bytes.h"

enum pd_magic {
	PD_MAGIC_NONE,
	PD_MAGIC_LITTLE,	/* little-endian */
	PD_MAGIC_BIG,
	PD_MAGIC_V1,		/* before perf 3.4; does not state the byte order */
};

/* Text of the error for a recording after another one. */
#define PD_ANOTHER_RECORDING \
	"another one, of which nothing is decoded: it needs a file of its own"

/* Returns which magic the bytes begin with. Sets *damaged if one byte of it differs or all are
 * reversed, which only the size after it allows: that of a file's or a pipe's header. */
enum pd_magic pd_magic_of(struct pd_bytes first, bool *damaged);

#endif
