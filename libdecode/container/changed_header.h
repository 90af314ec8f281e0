/* changed_header.h - restores a file header into which bytes were inserted, or from which some were
 * removed. */
#ifndef PD_CONTAINER_CHANGED_HEADER_H
#define PD_CONTAINER_CHANGED_HEADER_H

#include "container/sections.h"

/* Replaces the header's bytes by those that it had, and sets *moved to the distance by which all
 * that follows is after its stated offset, modulo 2^64. Reports the change. Returns 1, 0 unless all
 * of the file agrees with such a change, or -1 and *l->e. */
int pd_changed_header_restore(const struct pd_loader *l, uint8_t header[PD_FILE_HEADER_SIZE],
			      uint64_t *moved);

#endif
