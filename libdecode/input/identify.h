/* identify.h - recognizes files that are not perf.data files, for the error message. */
#ifndef PD_INPUT_IDENTIFY_H
#define PD_INPUT_IDENTIFY_H

#include "pd/bytes.h"

/* Returns a description of the file that begins with these bytes and a hint, or NULL if it is
 * unknown. Static. More than 4 KiB do not help. */
const char *pd_identify(struct pd_bytes head);

#endif
