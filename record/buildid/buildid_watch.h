/* buildid_watch.h - find hit files in a recording while it is written, or once it is. One thread at
 * a time may call these functions. */
#ifndef RECORD_BUILDID_WATCH_H
#define RECORD_BUILDID_WATCH_H

#include "buildid/buildid_hits.h"
#include "pd/bytes.h"

struct buildid_watch;

struct buildid_watch *buildid_watch_new(enum buildid_which which);	/* NULL: no memory */
void buildid_watch_free(struct buildid_watch *w);			/* NULL is fine */
/* fd: a file that begins with a header of that size, before it states where its data end. */
void buildid_watch_begin(struct buildid_watch *w, int fd, uint64_t header);
/* Scans the next bytes of the records; the `watch` of pd_writer_options. */
void buildid_watch_bytes(void *watch, struct pd_bytes bytes);
/* Scans records that are in the file, after buildid_watch_begin(). *hurry (atomic) ends it: what
 * was scanned by then counts. */
void buildid_watch_file(struct buildid_watch *w, int fd, uint64_t from, uint64_t to,
			const bool *hurry);
/* Returns the hits after the last record, borrowed from w; NULL: the file must be read back. */
const struct hits *buildid_watch_end(struct buildid_watch *w, struct buildid_summary *out);

#endif
