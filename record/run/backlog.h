/* backlog.h - what came from the buffers and can't be written yet, in its order. */
#ifndef RECORD_BACKLOG_H
#define RECORD_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "pd/bytes.h"

#define HELD_MOST ((size_t)64 << 20)	/* bytes of memory */

struct held_block;

struct held {
	struct held_block *first, *last;
	size_t blocks, room;		/* bytes that they take */
};

/* Copies whole records. False: there is no room. */
bool held_add(struct held *h, const struct pd_bytes *spans, size_t n);
/* The oldest of it: whole records; none: 0 bytes. They stay until they are dropped. */
struct pd_bytes held_first(const struct held *h);
void held_drop(struct held *h);		/* what held_first() gave */
void held_free(struct held *h);

#endif
