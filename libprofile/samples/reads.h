/* reads.h - samples with counter values: what each event of a group counted since the last one. */
#ifndef PP_READS_H
#define PP_READS_H

#include "store/index.h"
#include "pd/pd.h"

/* Last values of counters, by id. */
struct pp_counted {
	uint64_t id, value;
};

/* A counter. With inheritance the kernel gives the values of each thread. */
struct pp_counter {
	uint64_t id, thread, value;
};

/* Must be zero-initialized. */
struct pp_reads {
	struct pp_counter *counters;
	size_t nr_counters, counters_capacity;
	struct pp_index index;
	struct pp_counted *parts;	/* of the last sample */
	size_t nr_parts, parts_capacity;
	uint64_t enabled, running;	/* ns, of the last sample; 0: not recorded */
};

/* Sets parts to the differences since the last values of the same counters; those of 0 are left
 * out. `id` is the sample's own, for a value without one. Returns 0, or -1 without memory. */
int pp_reads_take(struct pp_reads *r, struct pp_memory *m, const struct pd_record *sample,
		  uint64_t id, uint64_t thread);

void pp_reads_free(struct pp_reads *r, struct pp_memory *m);

#endif
