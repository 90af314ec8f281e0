/* header_recovery.h - corrects a damaged file header by what the rest of the file shows. */
#ifndef PD_CONTAINER_HEADER_RECOVERY_H
#define PD_CONTAINER_HEADER_RECOVERY_H

#include "container/header.h"

struct pd_header_numbers {
	uint64_t size, attr_size;
	struct { uint64_t offset, size; } attrs, data, event_types;
	uint64_t moved;		/* by which features are after their stated offsets, modulo 2^64 */
	bool ids_doubtful;	/* bytes were inserted or removed before the end of the
				 * attributes */
	bool attrs_doubtful;	/* and after their beginning */
};

/* Replaces impossible offsets and sizes by those of the usual layout (attrs end where data begin,
 * the feature table follows the last record), but only if what is found there fits. Reports each.
 * `nr_features` is the number of bits set in the header. Returns whether anything was replaced.
 * Takes time only if something is wrong, linear in the file's size. */
bool pd_recover_header(struct pd_source *source, enum pd_swap swap, uint64_t file_size,
		       struct pd_header_numbers *h, size_t nr_features, const struct pd_report *r);

/* Returns whether a table of n features may be at this offset. False for n = 0. */
bool pd_recovery_is_table_at(struct pd_source *source, enum pd_swap swap, uint64_t file_size,
			     uint64_t offset, size_t n);

/* Returns whether the input is a stream of records in pipe mode, although its header states an
 * impossible size. */
bool pd_recovery_is_pipe(struct pd_source *source, enum pd_swap swap, uint64_t header_size);

#endif
