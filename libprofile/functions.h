/* functions.h - sums for each function of one event. */
#ifndef PP_FUNCTIONS_H
#define PP_FUNCTIONS_H

#include "profile_internal.h"

struct pp_sum {
	uint64_t self_weight, self_samples;
	uint64_t total_weight, total_samples;	/* a sample counts once however often the function
						 * is in its stack */
	uint32_t thread;	/* name of the thread with the largest part of self, or PP_NONE */
	uint32_t nr_threads;	/* names with a part of self */
};

/* Returns a sum for each function of the profile, or NULL without memory. Free it with
 * pp_sums_free(). */
struct pp_sum *pp_sums_make(struct pp_profile *p, size_t event);
void pp_sums_free(struct pp_profile *p, struct pp_sum *sums);

#endif
