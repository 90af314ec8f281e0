/* wrong_bit.h - corrects the feature bits of a header, one of which is wrong. */
#ifndef PD_CONTAINER_WRONG_BIT_H
#define PD_CONTAINER_WRONG_BIT_H

#include "container/sections.h"

/* Sets or clears the wrong bit, changes their number *n, and reports it. Does nothing unless the
 * feature table has one entry more, or fewer, and the sections have the form of other features
 * than the bits tell. Returns 0, or -1 and *l->e. */
int pd_wrong_bit_correct(const struct pd_loader *l, bool bits[PD_FEATURE_BITS], size_t *n);

#endif
