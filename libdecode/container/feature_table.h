/* feature_table.h - finds the sections of features: by perf's table, and by the own table after
 * it. */
#ifndef PD_CONTAINER_FEATURE_TABLE_H
#define PD_CONTAINER_FEATURE_TABLE_H

#include "container/sections.h"

/* Sets c->features: of the n bits that are set, as far as perf's table at c->data_end has entries,
 * and of the own table. Does nothing in an unfinished file, which has no tables. Returns 0, or -1
 * and *l->e. */
int pd_feature_tables_load(const struct pd_loader *l, const bool bits[PD_FEATURE_BITS], size_t n);

/* Returns whether an own table begins at this offset. */
bool pd_feature_own_table_at(struct pd_source *source, uint64_t offset);

#endif
