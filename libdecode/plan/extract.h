/* extract.h - read single numbers of a layout by name, for code that needs a value or two. */
#ifndef PD_PLAN_EXTRACT_H
#define PD_PLAN_EXTRACT_H

#include "plan/walk.h"

struct pd_extract {
	const char *parent;	/* name of the enclosing struct, "" for the outermost */
	const char *name;
	uint64_t *number;	/* set unless the bytes end before it */
};

void pd_extract(const struct pd_plan *plan, struct pd_bytes body, enum pd_swap swap,
		const struct pd_extract *extracts, size_t n);

#endif
