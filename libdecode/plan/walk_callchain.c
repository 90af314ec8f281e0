/* walk_callchain.c - the callchain of a sample, without a visitor. */
#include "plan/walk.h"

bool pd_take_callchain(const struct pd_plan *plan, struct pd_bytes body, uint32_t nr_ops,
		       enum pd_swap swap, struct pd_numbers *out)
{
	const struct pd_op *op = plan->callchain;
	struct pd_cursor c;
	uint64_t n;

	if (!pd_go_to_op(plan, op, body, nr_ops, swap, &c) ||
	    !pd_take_number(&c, (unsigned int)op->count_value, &n) || n > pd_left(&c) / op->width)
		return false;
	*out = (struct pd_numbers){ c.at, (size_t)n, op->width, swap == PD_SWAP_YES, NULL };
	return true;
}
