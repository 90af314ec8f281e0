/* buildid_scan.h - reads back what was recorded. */
#ifndef RECORD_BUILDID_SCAN_H
#define RECORD_BUILDID_SCAN_H

#include "buildid_hits.h"
#include "pd/pd.h"

/* To the end of what is readable. -1: no memory; what was seen by then counts. */
int buildid_scan(struct pd_reader *reader, enum buildid_which which, struct hits *hits,
		 struct buildid_summary *out);

#endif
