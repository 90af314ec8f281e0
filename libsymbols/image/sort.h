/* sort.h - sorts numbers in linear time, for tables that input fills. */
#ifndef PS_IMAGE_SORT_H
#define PS_IMAGE_SORT_H

#include "base/buf.h"

struct ps_key {
	uint64_t key;
	uint32_t index;		/* of what has the key */
	uint32_t size;		/* of it, if the caller wants to keep that */
};

/* Sorts by key; equal ones keep their order. Returns 0, or -1 without memory. */
int ps_sort_keys(struct ps_key *keys, size_t n, struct pd_budget *budget);

#endif
