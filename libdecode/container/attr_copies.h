/* attr_copies.h - whether the attributes of a file are damaged, or their copies in EVENT_DESC. */
#ifndef PD_CONTAINER_ATTR_COPIES_H
#define PD_CONTAINER_ATTR_COPIES_H

#include "container/header.h"

/* Replaces attributes by their copies (pd_attr.copy) if more of the first samples of `data` fit
 * these, and reports that as PD_E_RESTORED. Returns 0, or -1: no memory. */
int pd_choose_attr_copies(struct pd_source *source, struct pd_session *s,
			  const struct pd_section *data, const struct pd_report *r);

#endif
