/* header_recovery.h - puts right what a damaged file header says, where the rest of the file says it too. */
#ifndef PD_CONTAINER_HEADER_RECOVERY_H
#define PD_CONTAINER_HEADER_RECOVERY_H

#include "container/header.h"

struct pd_header_numbers {
	uint64_t size, attr_size;
	struct { uint64_t offset, size; } attrs, data, event_types;
};

/*
 * Offsets and sizes that can't be are replaced by those that the usual layout gives (attrs end where data begin, the feature
 * table is behind the last record), if and only if what is found there fits. Each is reported. nr_features: bits set in the
 * header. Returns whether anything was replaced. The time is linear in the file's size, and only spent where something is wrong.
 */
bool pd_recover_header(struct pd_source *source, enum pd_swap swap, uint64_t file_size, struct pd_header_numbers *h,
		       size_t nr_features, const struct pd_report *r);

/* Could the table of n features be at this offset? No, if there are none. */
bool pd_recovery_is_table_at(struct pd_source *source, enum pd_swap swap, uint64_t file_size, uint64_t offset, size_t n);

/* Is this a pipe's stream of records, though its header gives a file's size that can't be? */
bool pd_recovery_is_pipe(struct pd_source *source, enum pd_swap swap, uint64_t header_size);

#endif
