/* gaps.h - finds bytes of a file that are in no decoded section. */
#ifndef PD_CONTAINER_GAPS_H
#define PD_CONTAINER_GAPS_H

#include "container/header.h"

/* Fills in c->info.gaps: the non-zero bytes between and after the sections that were read. Returns
 * 0, or -1 and *e. */
int pd_gaps_find(struct pd_source *source, struct pd_session *s, struct pd_container *c,
		 struct pd_error *e);

#endif
