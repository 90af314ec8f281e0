/* gaps.h - finds bytes of a file that the decoded sections do not hold. */
#ifndef PD_CONTAINER_GAPS_H
#define PD_CONTAINER_GAPS_H

#include "container/header.h"

/* Fills in c->info.gaps: between and behind what was taken in of the sections, what is not zero. 0, or -1 and *e. */
int pd_gaps_find(struct pd_source *source, struct pd_session *s, struct pd_container *c, struct pd_error *e);

#endif
