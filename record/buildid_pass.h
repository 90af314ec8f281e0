/* buildid_pass.h - one pass over the records of a file as this machine just wrote it, at the speed
 * of reading: samples are looked at in place, everything else is gathered for the library. */
#ifndef RECORD_BUILDID_PASS_H
#define RECORD_BUILDID_PASS_H

#include "pd/pd.h"
#include "buildid_sample.h"

struct pass_callbacks {
	/* misc of the header, and what the sample says. */
	void (*sample)(void *ctx, uint16_t misc, const struct sample_seen *s);
	/* A reader of the other kernel records, a part of them at a time. */
	void (*others)(void *ctx, struct pd_reader *reader);
	void *ctx;
};

/* False: of this input nothing can be said in this way (a stream, another byte order, damage). The
 * callbacks may have been called by then. */
bool pass_over(struct pd_reader *reader, const struct pass_callbacks *callbacks);

#endif
