/* changed_tables.h - restores feature tables into which bytes were inserted, or from which some
 * were removed. */
#ifndef PD_CONTAINER_CHANGED_TABLES_H
#define PD_CONTAINER_CHANGED_TABLES_H

#include "container/moved_features.h"
#include "container/sections.h"

/* Both feature tables as they were, from c->data_end on. */
struct pd_restored_tables {
	struct pd_buf bytes;		/* empty: nothing was restored */
	bool lost[PD_FEATURE_BITS];	/* entries of perf's table that are not known, by index */
};

/* Restores the tables of the n features whose bits are set. Sets c->features_moved to the distance
 * by which the sections are after their stated offsets, and reports it. Does nothing unless each
 * section then begins where the one before ends, the last one ends with the file, and features can
 * be read there. Returns 0, or -1 and *l->e. */
int pd_changed_tables_restore(const struct pd_loader *l, const bool bits[PD_FEATURE_BITS],
			      size_t n, struct pd_restored_tables *out);

/* Returns whether that is possible for tables at file->data_end. */
bool pd_changed_tables_are_at(const struct pd_moved_search *file);

#endif
