/* buildid_scan.h - find hit files in a recording, or while it is written. */
#ifndef RECORD_BUILDID_SCAN_H
#define RECORD_BUILDID_SCAN_H

#include "buildid/buildid_hits.h"
#include "pd/pd.h"

/* Scans all readable records, or until *hurry is set (atomic; may be NULL). Returns 0, or -1
 * without memory; what was scanned by then counts. */
int buildid_scan(struct pd_reader *reader, enum buildid_which which, struct hits *hits,
		 const bool *hurry, struct buildid_summary *out);

/* The same for records on their way to a file. One thread at a time may call these functions. */
struct buildid_watch;

struct buildid_watch *buildid_watch_new(enum buildid_which which);	/* NULL: no memory */
void buildid_watch_free(struct buildid_watch *w);			/* NULL is fine */
/* fd: a file with its header and nothing after it. */
void buildid_watch_begin(struct buildid_watch *w, int fd);
/* Scans the next bytes of the records; the `watch` of pd_writer_options. */
void buildid_watch_bytes(void *watch, struct pd_bytes bytes);
/* Returns the hits after the last record, borrowed from w; NULL: the file must be read back. */
const struct hits *buildid_watch_end(struct buildid_watch *w, struct buildid_summary *out);

#endif
