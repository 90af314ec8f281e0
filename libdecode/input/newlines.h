/* newlines.h - whether a terminal, or a transfer as text, has changed the newlines of a
 * recording. */
#ifndef PD_INPUT_NEWLINES_H
#define PD_INPUT_NEWLINES_H

#include "input/source.h"

/* Returns whether a "\r" is before each "\n" of the first 16 MiB, and there are some. */
bool pd_newlines_are_converted(struct pd_source *source);

#endif
