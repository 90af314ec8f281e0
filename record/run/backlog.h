/* backlog.h - records that were drained but can't be written yet, in order. */
#ifndef RECORD_BACKLOG_H
#define RECORD_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "pd/bytes.h"

#define BACKLOG_MOST ((size_t)64 << 20)	/* bytes of memory */

struct backlog_block;

struct backlog {
	struct backlog_block *first, *last;
	size_t blocks, room;		/* number of blocks; bytes in them */
};

/* Copies whole records. Returns false if there is no room. */
bool backlog_add(struct backlog *h, const struct pd_bytes *spans, size_t n);
/* Returns the oldest whole records, 0 bytes if there are none. Borrowed until backlog_drop(). */
struct pd_bytes backlog_first(const struct backlog *h);
void backlog_drop(struct backlog *h);		/* frees the records of backlog_first() */
void backlog_free(struct backlog *h);

#endif
