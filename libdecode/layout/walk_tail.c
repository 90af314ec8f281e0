/* walk_tail.c - measures a list of which only the end varies, without walking it: see walk.h. */
#include "layout/walk.h"

bool pd_measure_tail(const struct pd_op_list *list, struct pd_bytes body, enum pd_swap swap,
		     enum pd_text_end text_end, struct pd_extent_of *out)
{
	const struct pd_op *last = &list->ops[list->nr_ops - 1];
	struct pd_cursor c = pd_cursor(body, swap);
	uint64_t n;

	if (!pd_take(&c, last->offset))
		return false;
	if (list->tail == PD_TAIL_TEXT) {
		if (text_end != PD_TEXT_TO_END)
			return false;
		out->end = body.size;
	} else {
		if (!pd_take_number(&c, (unsigned int)last->count_value, &n) || n > pd_left(&c) / last->width)
			return false;
		out->end = body.size - pd_left(&c) + (size_t)n * last->width;
	}
	out->nr_ops = list->nr_ops;
	out->variant = 0;
	out->code = PD_OK;
	return true;
}
