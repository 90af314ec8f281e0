/* names.h - feature PD_SYMBOLS: the names of the addresses that were hit, for machines without the
 * files. */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include <stdbool.h>

#include "base/deadline.h"
#include "pd/symbols.h"
#include "pd/write.h"

struct names_options {
	uint64_t began;			/* the recording, in s since 1970 */
	enum ps_clock clock;
	struct deadline deadline;	/* names that are not found until then are left out */
};

/* Reads the recording back and writes the feature; everything must be flushed. Sets *cut if names
 * are missing because of the deadline. Returns 0, or -1 and *e if writing failed; what can't be
 * read back is left out. */
int names_feature(struct pd_writer *w, const char *path, const struct names_options *o, bool *cut,
		  struct pd_error *e);

#endif
