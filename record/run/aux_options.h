/* aux_options.h - the size of AUX areas, and checks of -S and --aux-sample. */
#ifndef RECORD_AUX_OPTIONS_H
#define RECORD_AUX_OPTIONS_H

#include "run/recording.h"

/* Must be called after the events and -m were read. Returns 0, or an exit status after logging the
 * error. */
int aux_options_read(struct recording *r);

#endif
