/* array.h - a growing array of items, charged to a budget. It grows by an eighth, because arrays
 * that input fills can be most of a budget. */
#ifndef PD_BASE_ARRAY_H
#define PD_BASE_ARRAY_H

#include "base/buf.h"

/* Must be zero-initialized, except for the budget and the width. */
struct pd_array {
	struct pd_budget *budget;
	void *items;
	uint32_t width;		/* bytes of an item */
	uint32_t nr, room;
};

/* Appends n zeroed items. Returns the first of them, or NULL without memory. */
void *pd_array_add(struct pd_array *a, uint32_t n);
/* Makes room for n items in total and forgets those that were there; the new ones are not zeroed.
 * Returns the first, or NULL without memory. */
void *pd_array_reset(struct pd_array *a, uint32_t n);
/* Gives back the room that is not used. */
void pd_array_trim(struct pd_array *a);
void pd_array_free(struct pd_array *a);

#endif
