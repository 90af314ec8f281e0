/* identify.h - what a file is that is not a perf.data file, for the message that says so. */
#ifndef PD_INPUT_IDENTIFY_H
#define PD_INPUT_IDENTIFY_H

#include "pd/bytes.h"

/* What begins with these bytes, and what to do about it; NULL: unknown. Static. More bytes tell more: 4 KiB are enough. */
const char *pd_identify(struct pd_bytes head);

#endif
