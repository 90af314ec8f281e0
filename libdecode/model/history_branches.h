/* history_branches.h - the branches of a sample, one by one. */
#ifndef PD_MODEL_HISTORY_BRANCHES_H
#define PD_MODEL_HISTORY_BRANCHES_H

#include "stream/record.h"

struct pd_branch {
	uint64_t from, to, flags;
};

typedef void pd_branch_fn(void *ctx, const struct pd_branch *b);

/* Calls `take` for each branch of a sample, newest first. Sets *hw_idx to the index of the newest
 * one in the hardware, -1: not known. Returns the number of branches. */
size_t pd_branches_each(const struct pd_record *sample, pd_branch_fn *take, void *ctx,
			int64_t *hw_idx);

#endif
