/* walk_tail.c - measures a list of which only the end varies, without walking it: see walk.h. */
#include "layout/walk.h"

static bool take_numbers(struct pd_cursor *c, const struct pd_op *op)
{
	uint64_t n;

	return pd_take_number(c, (unsigned int)op->count_value, &n) && n <= pd_left(c) / op->width &&
	       pd_take(c, (size_t)n * op->width);
}

static bool take_sized(struct pd_cursor *c, const struct pd_op_list *list)
{
	uint64_t size;

	if (!pd_take_number(c, list->ops[0].width, &size) || size > pd_left(c) || !pd_take(c, (size_t)size))
		return false;
	return list->nr_ops == 2 || pd_take(c, pd_left(c) % list->ops[2].count_value);
}

bool pd_measure_tail(const struct pd_op_list *list, struct pd_bytes body, enum pd_swap swap,
		     enum pd_text_end text_end, struct pd_extent_of *out)
{
	const struct pd_op *last = &list->ops[list->nr_ops - 1];
	struct pd_cursor c = pd_cursor(body, swap);
	bool whole;

	if (!pd_take(&c, last->offset))
		return false;
	if (list->tail == PD_TAIL_TEXT)
		whole = text_end == PD_TEXT_TO_END && pd_take(&c, pd_left(&c));
	else
		whole = list->tail == PD_TAIL_NUMBERS ? take_numbers(&c, last) : take_sized(&c, last->list);
	out->nr_ops = list->nr_ops;
	out->variant = 0;
	out->end = body.size - pd_left(&c);
	out->code = PD_OK;
	return whole;
}
