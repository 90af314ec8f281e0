/* moved_features.h - finds the features of a file that has more or fewer bytes before them. */
#ifndef PD_CONTAINER_MOVED_FEATURES_H
#define PD_CONTAINER_MOVED_FEATURES_H

#include "container/header.h"

struct pd_moved_search {
	struct pd_source *source;
	enum pd_swap swap;
	uint64_t file_size;
	uint64_t data_offset, data_end;	/* as the header states them; an end of UINT64_MAX is not
					 * known, but the distance */
	uint64_t distance;
	size_t nr_features;		/* bits set in the header, at least 1 */
};

/* Returns the stated end of the last section, by the tables at the start of `tables`; 0 unless each
 * section begins where the one before ends, the first one after the tables, which are at
 * s->data_end. Only the swap, data_end and nr_features are used. */
uint64_t pd_moved_features_end(const struct pd_moved_search *s, struct pd_bytes tables);

/* Finds the feature table of a file into which bytes were inserted before it, or from which some
 * were removed: everything after them is at another offset than stated, by the same distance.
 * Returns false unless each section begins where the one before ends, the first one after the
 * tables, and the last one ends with the file, all at that distance. Takes time linear in the
 * file's size. */
bool pd_moved_features_find(const struct pd_moved_search *s, uint64_t *table);

#endif
