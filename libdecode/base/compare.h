/* compare.h - byte strings that are the same, or in order. A string without bytes may have no
 * address, which memcmp(3) must not be given. */
#ifndef PD_BASE_COMPARE_H
#define PD_BASE_COMPARE_H

#include <stdbool.h>
#include <string.h>

#include "pd/bytes.h"

static inline bool pd_same_bytes(struct pd_bytes a, struct pd_bytes b)
{
	return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

/* Compares as memcmp(3) does. A string is less than those that begin with it. */
static inline int pd_compare_bytes(struct pd_bytes a, struct pd_bytes b)
{
	const size_t both = a.size < b.size ? a.size : b.size;
	const int order = both ? memcmp(a.data, b.data, both) : 0;

	return order ? order : a.size < b.size ? -1 : a.size > b.size;
}

#endif
