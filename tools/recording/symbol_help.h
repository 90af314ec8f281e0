/* symbol_help.h - what gives names to frames that have none. */
#ifndef PD_TOOLS_RECORDING_SYMBOL_HELP_H
#define PD_TOOLS_RECORDING_SYMBOL_HELP_H

#include "pd/history.h"

/* Returns what gives names to frames of an image, or of none if it is NULL, that have no name for a
 * reason of enum pd_why: a part of a sentence; "" if nothing does. Static. */
const char *symbol_help(unsigned int why, const struct pd_image *image);

#endif
