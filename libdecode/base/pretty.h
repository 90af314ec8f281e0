/* pretty.h - lays JSON out for people, as a stream: what fits on a line stays on it, the rest is indented. */
#ifndef PD_BASE_PRETTY_H
#define PD_BASE_PRETTY_H

#include <stdbool.h>
#include <stddef.h>

#include "pd/output.h"

#define PD_PRETTY_WIDTH 100

struct pd_pretty {
	struct pd_output out;
	int failed;
	size_t column;
	unsigned int depth;	/* of the brackets that are broken over lines */
	enum { PD_PRETTY_OUTSIDE, PD_PRETTY_IN_STRING, PD_PRETTY_ESCAPED } state;
	/* From an opening bracket on: it is not known yet whether this fits. */
	char held[PD_PRETTY_WIDTH + 8];
	size_t nr_held;
	unsigned int held_depth;
	/* On its way out. */
	char buffer[4096];
	size_t used;
};

/* An output that takes JSON, in pieces cut anywhere, and hands it on to `out`; it keeps nothing back but the start of a
 * short value that is not whole yet. */
struct pd_output pd_pretty_init(struct pd_pretty *p, struct pd_output out);

#endif
