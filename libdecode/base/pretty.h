/* pretty.h - indents JSON for people, as a stream: what fits on a line stays on it. */
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
	unsigned int depth;	/* of brackets that are broken over lines */
	enum { PD_PRETTY_OUTSIDE, PD_PRETTY_IN_STRING, PD_PRETTY_ESCAPED } state;
	/* Pending text from an opening bracket on that may fit on the line. */
	char held[PD_PRETTY_WIDTH + 8];
	size_t nr_held;
	unsigned int held_depth;
	/* Output buffer. */
	char buffer[4096];
	size_t used;
};

/* Returns an output that takes JSON in arbitrary pieces and writes it to `out`, keeping back only
 * the start of an incomplete short value. */
struct pd_output pd_pretty_init(struct pd_pretty *p, struct pd_output out);

#endif
