/* aux_options.h - how large AUX areas are, and what -S and --aux-sample need. */
#ifndef RECORD_AUX_OPTIONS_H
#define RECORD_AUX_OPTIONS_H

#include "run/recording.h"

/* Once the events are complete and -m was read. 0; or an exit status after saying what is wrong. */
int aux_options_read(struct recording *r);

#endif
