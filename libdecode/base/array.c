/* array.c - a growing array of items, charged to a budget. */
#include "base/array.h"

#include <string.h>

static int grow_array(struct pd_array *a, uint64_t least)
{
	uint64_t room = (uint64_t)a->room + a->room / 8 + 16;
	void *items;

	if (room < least)
		room = least;
	if (room > UINT32_MAX - 1)
		return -1;
	items = pd_budget_grow(a->budget, a->items, (size_t)a->room * a->width,
			       (size_t)room * a->width);
	if (!items)
		return -1;
	a->items = items;
	a->room = (uint32_t)room;
	return 0;
}

void *pd_array_add(struct pd_array *a, uint32_t n)
{
	uint8_t *items;

	if (n > a->room - a->nr && grow_array(a, (uint64_t)a->nr + n))
		return NULL;
	items = (uint8_t *)a->items + (size_t)a->nr * a->width;
	memset(items, 0, (size_t)n * a->width);
	a->nr += n;
	return items;
}

void *pd_array_reset(struct pd_array *a, uint32_t n)
{
	a->nr = 0;
	if (n > a->room && grow_array(a, n))
		return NULL;
	a->nr = n;
	return a->items;
}

void pd_array_trim(struct pd_array *a)
{
	void *items = a->room == a->nr ? NULL :
			pd_budget_grow(a->budget, a->items, (size_t)a->room * a->width,
				       (size_t)a->nr * a->width);

	if (!items)
		return;
	a->items = items;
	a->room = a->nr;
}

void pd_array_free(struct pd_array *a)
{
	pd_budget_free(a->budget, a->items, (size_t)a->room * a->width);
	*a = (struct pd_array){ .budget = a->budget, .width = a->width };
}
