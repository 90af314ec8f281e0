/* preport_threads.h - reads the samples of a recording with several threads, each a part of it. */
#ifndef PD_TOOLS_PREPORT_THREADS_H
#define PD_TOOLS_PREPORT_THREADS_H

#include "files/input.h"
#include "pd/index.h"
#include "pd/profile.h"

enum {
	PARTS_MOST = 16,
	PARTS_RECORDS = 2000,	/* of the recording from one entry of the index to the next */
	PARTS_BYTES = 1 << 21,	/* of a recording add a record to that distance: 100 GB of short
				 * records have 50,000 entries */
};

struct parts {
	const struct input *in;
	const struct pd_index *index;
	struct pd_reader_options reader;	/* of a part; its callbacks are not called */
	struct pp_options profile;
	unsigned int threads;
};

/* Adds all samples of a recording, of which the reader has returned nothing yet, to a profile.
 * Returns what pp_add() does. The profile is the same for any number of threads. */
int parts_add(const struct parts *parts, struct pp_profile *p, struct pd_reader *r,
	      struct pd_error *e);

#endif
