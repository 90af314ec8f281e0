/* buildid_pass.h - one pass over records as this machine just wrote them, at the speed of reading:
 * samples are looked at in place, everything else is gathered for the library.
 *
 * Either over those of a file, or over what is on its way to one.
 */
#ifndef RECORD_BUILDID_PASS_H
#define RECORD_BUILDID_PASS_H

#include "buildid/buildid_sample.h"
#include "pd/pd.h"

struct pass_callbacks {
	/* misc of the header, and what the sample says. */
	void (*sample)(void *ctx, uint16_t misc, const struct sample_seen *s);
	/* A reader of the other kernel records, a part of them at a time. */
	void (*others)(void *ctx, struct pd_reader *reader);
	void *ctx;
	const bool *hurry;		/* atomic: the rest of the file is not worth the time; may be NULL */
};

/* False: of this input nothing can be said in this way (a stream, another byte order, damage). The
 * callbacks may have been called by then. */
bool pass_over(struct pd_reader *reader, const struct pass_callbacks *callbacks);

struct pass;

/* Over what comes behind a file's header, of which this is a reader; it is asked nothing afterwards. The callbacks are borrowed.
 * NULL: as above, or no memory. */
struct pass *pass_begin(struct pd_reader *header, const struct pass_callbacks *callbacks);
/* The next bytes of the records, in pieces that end anywhere. */
void pass_see(struct pass *p, struct pd_bytes bytes);
/* The others that were gathered are handed out. False: as above. */
bool pass_end(struct pass *p);
void pass_free(struct pass *p);		/* NULL is fine */

#endif
