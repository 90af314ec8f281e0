/* buildid_scan.h - looks through what was recorded, or is being. */
#ifndef RECORD_BUILDID_SCAN_H
#define RECORD_BUILDID_SCAN_H

#include "buildid/buildid_hits.h"
#include "pd/pd.h"

/* To the end of what is readable, or until *hurry (atomic; may be NULL). -1: no memory; what was seen by then counts. */
int buildid_scan(struct pd_reader *reader, enum buildid_which which, struct hits *hits,
		 const bool *hurry, struct buildid_summary *out);

/* The same of records on their way into a file, seen one after the other: by one thread at a time. */
struct buildid_watch;

struct buildid_watch *buildid_watch_new(enum buildid_which which);	/* NULL: no memory */
void buildid_watch_free(struct buildid_watch *w);			/* NULL is fine */
/* fd: has the header of the file, and nothing behind it yet. */
void buildid_watch_begin(struct buildid_watch *w, int fd);
/* The next bytes of the records; of pd_writer_options. */
void buildid_watch_see(void *watch, struct pd_bytes bytes);
/* After the last. NULL: they have to be read back. The hits are the watch's. */
const struct hits *buildid_watch_end(struct buildid_watch *w, struct buildid_summary *out);

#endif
