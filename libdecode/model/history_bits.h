/* history_bits.h - a set of small numbers in which the neighbours of a number are found in a few
 * steps: a tree of words, a bit for each word below that is not 0. */
#ifndef PD_MODEL_HISTORY_BITS_H
#define PD_MODEL_HISTORY_BITS_H

#include "base/array.h"

#define PD_BITS_LEVELS 6
#define PD_NO_BIT UINT32_MAX

/* Must be zero-initialized, except for words.budget and words.width = 8. */
struct pd_bit_tree {
	struct pd_array words;
	uint32_t level[PD_BITS_LEVELS + 1];	/* where each begins, and the end */
	uint32_t nr_levels;
};

/* Makes an empty set of numbers below n. Returns 0, or -1 without memory. */
int pd_bits_reset(struct pd_bit_tree *t, uint32_t n);
void pd_bits_set(struct pd_bit_tree *t, uint32_t i);
void pd_bits_clear(struct pd_bit_tree *t, uint32_t i);
/* Return the nearest number at or after i, at or before i; PD_NO_BIT if there is none. */
uint32_t pd_bits_next(const struct pd_bit_tree *t, uint32_t i);
uint32_t pd_bits_last(const struct pd_bit_tree *t, uint32_t i);

#endif
