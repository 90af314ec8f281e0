/* feature_bits.h - the bitmap of features in a file's header. */
#ifndef PD_CONTAINER_FEATURE_BITS_H
#define PD_CONTAINER_FEATURE_BITS_H

#include "container/header.h"

/* Reads the bitmap, and sets c->info.long_size to the size of its words. */
void pd_feature_bits_read(struct pd_container *c, struct pd_bytes map, bool bits[PD_FEATURE_BITS]);

#endif
