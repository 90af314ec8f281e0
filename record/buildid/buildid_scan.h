/* buildid_scan.h - find hit files in records. */
#ifndef RECORD_BUILDID_SCAN_H
#define RECORD_BUILDID_SCAN_H

#include "buildid/buildid_hits.h"
#include "pd/fields.h"

struct buildid_scan {
	struct hits *hits;
	struct buildid_summary *out;
	enum buildid_which which;
	const bool *hurry;		/* ends it if set (atomic); may be NULL */
	int failed;			/* -1: no memory; what was scanned by then counts */
};

/* Scans all readable records and resolves the hits. Returns s->failed. */
int buildid_scan(struct buildid_scan *s, struct pd_reader *reader);
/* Scans records up to the first that is damaged. Returns the offset after the last and its payload;
 * 0: none was whole. */
uint64_t buildid_scan_whole(struct buildid_scan *s, struct pd_reader *reader);
void buildid_scan_sample(struct buildid_scan *s, const struct pd_sample *sample);

#endif
