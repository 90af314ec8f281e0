/* walk_tail.c - measure and visit a list of which only the end varies, without walking it. */
#include "plan/walk.h"

bool pd_measure_tail(const struct pd_op_list *list, struct pd_bytes body, enum pd_swap swap,
		     enum pd_text_end text_end, struct pd_extent_of *out)
{
	const bool is_short = list->tail == PD_TAIL_TEXT && text_end != PD_TEXT_TO_END;

	out->nr_ops = list->nr_ops;
	out->variant = 0;
	out->end = is_short ? SIZE_MAX : pd_tail_end(list, body, swap);
	out->code = PD_OK;
	return out->end != SIZE_MAX;
}

/* A parsed tail. */
struct tail {
	struct pd_bytes text;		/* TEXT; bytes of SIZED */
	struct pd_numbers numbers;
	const uint8_t *size;		/* of SIZED: address of the size */
};

/* Returns whether the last n bytes, mostly few, are zero. */
static inline bool ends_in_zeros(struct pd_bytes b, size_t n)
{
	const enum pd_swap little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? PD_SWAP_NO :
		PD_SWAP_YES;

	if (n - 1 < 8 && b.size >= 8)
		return pd_load64(b.data + b.size - 8, little) >> (64 - 8 * n) == 0;
	return pd_all_zero((struct pd_bytes){ b.data + b.size - n, n });
}

static bool read_text(struct pd_cursor *c, struct tail *t)
{
	const struct pd_bytes rest = { c->at, pd_left(c) };
	const size_t size = pd_text_length(rest);

	t->text = (struct pd_bytes){ rest.data, size };
	return ends_in_zeros(rest, rest.size - size);
}

static bool read_numbers(struct pd_cursor *c, const struct pd_op *op, struct tail *t)
{
	uint64_t n;

	if (!pd_take_number(c, (unsigned int)op->count_value, &n) || n > pd_left(c) / op->width)
		return false;
	t->numbers = (struct pd_numbers){ c->at, (size_t)n, op->width, c->swap, op->names };
	return true;
}

static bool read_sized(struct pd_cursor *c, const struct pd_op_list *list, struct tail *t)
{
	uint64_t size;

	t->size = c->at;
	if (!pd_take_number(c, list->ops[0].width, &size) || size > pd_left(c) ||
	    !pd_take_bytes(c, (size_t)size, &t->text))
		return false;
	return list->nr_ops == 2 ||
	       pd_all_zero((struct pd_bytes){ c->at,
		       (size_t)(pd_left(c) % list->ops[2].count_value) });
}

static bool read_tail(struct pd_cursor *c, const struct pd_op_list *list, struct tail *t)
{
	const struct pd_op *last = &list->ops[list->nr_ops - 1];

	if (list->tail == PD_TAIL_TEXT)
		return read_text(c, t);
	return list->tail == PD_TAIL_NUMBERS ? read_numbers(c, last, t) :
		read_sized(c, last->list, t);
}

bool pd_visit_tail(const struct pd_op_list *list, size_t at, struct pd_bytes body,
		   enum pd_swap swap,
		   const struct pd_visitor *v, pd_see_fixed_fields batch, void *ctx)
{
	const struct pd_op *last = &list->ops[list->nr_ops - 1], *optional = list->optional;
	struct pd_cursor c = pd_cursor(body, swap);
	const uint8_t *start = c.at;
	struct tail t;

	if (!pd_take(&c, at) || !pd_pads_are_clean(list, start) || !read_tail(&c, list, &t))
		return false;
	if (optional && at == optional->offset)
		optional = NULL;
	if (optional && !pd_pads_are_clean(optional->list, start + optional->offset))
		return false;
	if (list->nr_simple)
		batch(ctx, list->ops, list->nr_simple, start, swap);
	if (optional)
		batch(ctx, optional->list->ops, optional->list->nr_ops, start + optional->offset,
		      swap);
	if (list->tail == PD_TAIL_TEXT) {
		v->text(ctx, last->field, t.text);
	} else if (list->tail == PD_TAIL_NUMBERS) {
		v->numbers(ctx, last->field, &t.numbers);
	} else {
		v->enter(ctx, last->field);
		batch(ctx, last->list->ops, 1, t.size, swap);
		v->bytes(ctx, last->list->ops[1].field, t.text);
		v->leave(ctx, last->field);
	}
	return true;
}
