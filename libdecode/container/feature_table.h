/* feature_table.h - finds the sections of features. */
#ifndef PD_CONTAINER_FEATURE_TABLE_H
#define PD_CONTAINER_FEATURE_TABLE_H

#include "container/header.h"

/* Sets c->features: of the n bits that are set, as far as the table at c->data_end has entries.
 * Does nothing in an unfinished file, which has no table. Returns 0, or -1 and *e. */
int pd_feature_table_load(struct pd_source *source, struct pd_session *s, struct pd_container *c,
			  const bool bits[PD_FEATURE_BITS], size_t n, const struct pd_report *r,
			  struct pd_error *e);

#endif
