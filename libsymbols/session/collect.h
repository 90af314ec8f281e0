/* collect.h - the addresses that a session found functions at, for a bundle. */
#ifndef PS_SESSION_COLLECT_H
#define PS_SESSION_COLLECT_H

#include "session/session.h"

struct ps_hit {
	struct ps_hit *next, *same;	/* of all; at the same address, of other times */
	uint64_t address;
	struct ps_known found;
};

/* Sets the inlined functions and lines of an image of a bundle, whose addresses are those of the
 * hits. Without memory there are none. */
void ps_session_set_calls(struct ps_session *s, const struct ps_hit *const *hits,
			  struct ps_bundle_image *image);

#endif
