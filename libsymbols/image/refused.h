/* refused.h - notices that malloc refused memory to libelf or libdw, which fail then as they do for
 * damaged files, or do without. libdw ends the process in most cases. */
#ifndef PS_IMAGE_REFUSED_H
#define PS_IMAGE_REFUSED_H

#include <errno.h>

#include "base/buf.h"

/* Must be called before the calls of the library. */
static inline void ps_refused_begin(void)
{
	errno = 0;
}

/* Returns whether memory was refused, and notes it in the budget. No system call may have failed
 * since the beginning. */
static inline bool ps_refused(struct pd_budget *budget)
{
	if (errno != ENOMEM)
		return false;
	pd_budget_note_refused(budget);
	return true;
}

#endif
