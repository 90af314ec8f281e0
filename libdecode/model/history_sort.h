/* history_sort.h - sorts numbers in linear time. */
#ifndef PD_MODEL_HISTORY_SORT_H
#define PD_MODEL_HISTORY_SORT_H

#include <stddef.h>
#include <stdint.h>

struct pd_pair {
	uint64_t key;
	uint32_t value;
};

/* Sorts n pairs by key; equal ones keep their order. `scratch` must have room for n. Returns v or
 * scratch, whichever has the result. */
struct pd_pair *pd_pairs_sort(struct pd_pair *v, struct pd_pair *scratch, size_t n);

/* Sorts n numbers by their upper 32 bits; equal ones keep their order. `scratch` must have room for
 * n. */
void pd_upper_halves_sort(uint64_t *v, uint64_t *scratch, size_t n);

#endif
