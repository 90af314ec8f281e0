/* feature_table.h - finds the sections of features: by perf's table, and by the own table after
 * it. */
#ifndef PD_CONTAINER_FEATURE_TABLE_H
#define PD_CONTAINER_FEATURE_TABLE_H

#include "container/header.h"

/* Sets c->features: of the n bits that are set, as far as perf's table at c->data_end has entries,
 * and of the own table. Does nothing in an unfinished file, which has no tables. Returns 0, or -1
 * and *e. */
int pd_feature_tables_load(struct pd_source *source, struct pd_session *s, struct pd_container *c,
			   const bool bits[PD_FEATURE_BITS], size_t n, const struct pd_report *r,
			   struct pd_error *e);

/* Returns whether an own table begins at this offset. */
bool pd_feature_own_table_at(struct pd_source *source, uint64_t offset);

#endif
