/* backlog.h - what came from the buffers and can't be written yet, in its order. */
#ifndef RECORD_BACKLOG_H
#define RECORD_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "pd/bytes.h"

#define BACKLOG_MOST ((size_t)64 << 20)	/* bytes of memory */

struct backlog_block;

struct backlog {
	struct backlog_block *first, *last;
	size_t blocks, room;		/* bytes that they take */
};

/* Copies whole records. False: there is no room. */
bool backlog_add(struct backlog *h, const struct pd_bytes *spans, size_t n);
/* The oldest of it: whole records; none: 0 bytes. They stay until they are dropped. */
struct pd_bytes backlog_first(const struct backlog *h);
void backlog_drop(struct backlog *h);		/* what backlog_first() gave */
void backlog_free(struct backlog *h);

#endif
