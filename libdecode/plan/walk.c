/* walk.c - run a plan over bytes: lists, and rows that are structs, arrays or single numbers. The
 * others are in walk_leaf.c. */
#include "plan/walk_internal.h"

#include <string.h>

#define FEW_SLOTS 8

uint64_t pd_bits_mirror(const struct pd_field *f, uint64_t v, unsigned int width,
			enum pd_mirror way)
{
	unsigned int bits = 8 * width;
	uint64_t out = 0;

	for (unsigned int i = 0; i < bits; i++)
		out |= (v >> (bits - 1 - i) & 1) << i;
	for (const struct pd_bits *b = f->bits; b && b->name; b++) {
		const uint64_t mask = (b->width == 64 ? 0 : 1ull << b->width) - 1;
		/* the machine counts from the other end */
		const unsigned int top = bits - b->shift - b->width;
		const unsigned int from = way == PD_TO_LITTLE ? top : b->shift;
		const unsigned int to = way == PD_TO_LITTLE ? b->shift : top;

		out = (out & ~(mask << to)) | (v >> from & mask) << to;
	}
	return out;
}

uint64_t pd_op_shown(const struct pd_op *op, const uint8_t *start, enum pd_swap swap)
{
	return pd_walk_unmirror(op->field, pd_op_value(op, start, swap), op->width, swap);
}

/* Pads belong to the innermost object. */
struct pad_mark {
	unsigned int nr, dirty;
};

static inline struct pad_mark open_object(struct pd_walk *w)
{
	struct pad_mark m = { w->nr_pads, w->dirty_pads };

	w->dirty_pads = 0;
	return m;
}

static inline void close_object(struct pd_walk *w, struct pad_mark m)
{
	if (__builtin_expect(w->dirty_pads && w->v && w->v->padding, 0))
		w->v->padding(w->ctx, w->pads + m.nr, w->nr_pads - m.nr);
	w->nr_pads = m.nr;
	w->dirty_pads = m.dirty;
}

static enum pd_step walk_list(struct pd_walk *w, const struct pd_op_list *list, uint32_t nr_ops,
			   const uint8_t *outer_end);

/* Reads numbers that earlier rows need; absent ones are 0. */
static void read_forward_refs(struct pd_walk *w, const struct pd_op_list *list)
{
	for (uint32_t i = 0; i < list->nr_forward_refs; i++) {
		const struct pd_forward_ref *a = &list->forward_refs[i];
		struct pd_cursor c = w->c;
		uint64_t v = 0;

		if (a->offset != PD_VARIABLE && pd_take(&c, a->offset) &&
		    pd_take_number(&c, a->op->width, &v))
			v = pd_walk_unmirror(a->op->field, v, a->op->width, c.swap);
		w->slots[a->op->slot] = v;
	}
}

/* Ends a struct after the size that it states, or at the outer end if that comes first. */
static void limit_to_own_size(struct pd_walk *w, const struct pd_op *op)
{
	uint64_t size;

	read_forward_refs(w, op->list);
	size = op->extent_slot < 0 ? 0 : w->slots[op->extent_slot];
	if (size == 0)
		size = op->field->extent.value;
	if (size < pd_left(&w->c)) {
		w->c.end = w->c.at + size;
	} else if (size > pd_left(&w->c)) {
		w->regular = PD_IRREGULAR;
		pd_walk_fail(w, op, PD_E_TRUNCATED, size);	/* but what is there can be read */
	}
}

/* Walks a group or struct in its extent; bytes of the extent after the last row are a pad. */
static enum pd_step walk_struct(struct pd_walk *w, const struct pd_op *op)
{
	const uint8_t *outer_end = w->c.end;
	struct pad_mark mark = { 0, 0 };
	enum pd_step step;

	if (op->kind == PD_STRUCT) {
		mark = open_object(w);
		if (w->v && w->v->enter)
			w->v->enter(w->ctx, op->field);
	}
	if (op->field->extent.from == PD_EXTENT_SIBLING) {
		uint64_t size = op->extent_slot < 0 ? 0 : w->slots[op->extent_slot];

		if (size > pd_left(&w->c))
			return pd_walk_fail(w, op, PD_E_SIZE, size);
		w->c.end = w->c.at + size;
	}
	if (op->field->extent.from == PD_EXTENT_OWN)
		limit_to_own_size(w, op);
	step = walk_list(w, op->list, op->list->nr_ops,
			 op->field->extent.from == PD_EXTENT_NONE ? NULL : outer_end);
	w->c.end = outer_end;
	if (step == PD_STEP_FAILED)
		return PD_STEP_FAILED;
	if (op->kind == PD_STRUCT) {
		close_object(w, mark);
		if (w->v && w->v->leave)
			w->v->leave(w->ctx, op->field);
	}
	return PD_STEP_DONE;
}

static enum pd_step walk_element(struct pd_walk *w, const struct pd_op *op)
{
	bool bare = op->list->nr_ops == 1 && op->list->ops[0].field->name[0] == '\0' &&
		    op->list->ops[0].kind != PD_GROUP;
	struct pad_mark mark;

	if (bare)
		return walk_list(w, op->list, 1, NULL);
	mark = open_object(w);
	if (w->v && w->v->enter)
		w->v->enter(w->ctx, NULL);
	if (walk_list(w, op->list, op->list->nr_ops, NULL) == PD_STEP_FAILED)
		return PD_STEP_FAILED;
	close_object(w, mark);
	if (w->v && w->v->leave)
		w->v->leave(w->ctx, NULL);
	return PD_STEP_DONE;
}

static enum pd_step walk_array(struct pd_walk *w, const struct pd_op *op, const uint8_t *start)
{
	uint64_t n, unit = op->list->size;

	if (pd_walk_count(w, op, start, &n) != PD_STEP_DONE)
		return PD_STEP_FAILED;
	if (op->count_from == PD_COUNT_REST)
		n = UINT64_MAX;
	else if (unit == PD_VARIABLE ? n > pd_left(&w->c) : unit && n > pd_left(&w->c) / unit)
		return pd_walk_fail(w, op, PD_E_COUNT,
			    unit == PD_VARIABLE || n > UINT64_MAX / unit ? n : n * unit);
	if (w->v && w->v->enter_array)
		w->v->enter_array(w->ctx, op->field, (size_t)n);
	if (!w->v && unit != PD_VARIABLE && op->count_from != PD_COUNT_REST)
		return pd_take(&w->c, (size_t)(n * unit)) ? PD_STEP_DONE : PD_STEP_FAILED;
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *at = w->c.at;

		if (op->count_from == PD_COUNT_REST && !pd_left(&w->c))
			break;
		if (walk_element(w, op) == PD_STEP_FAILED)
			return PD_STEP_FAILED;
		if (w->c.at == at && op->count_from == PD_COUNT_REST)
			return pd_walk_fail(w, op, PD_E_SIZE, 1);
	}
	if (w->v && w->v->leave_array)
		w->v->leave_array(w->ctx, op->field);
	return PD_STEP_DONE;
}

static enum pd_step walk_number(struct pd_walk *w, const struct pd_op *op)
{
	const uint8_t *p = pd_walk_take(w, op, op->width);
	uint64_t value;

	if (!p)
		return PD_STEP_FAILED;
	value = pd_walk_unmirror(op->field, pd_load(p, op->width, w->c.swap), op->width, w->c.swap);
	if (op->slot >= 0)
		w->slots[op->slot] = value;
	if (op->field->show == PD_ORDER)
		w->c.swap = (value != 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
				    ? PD_SWAP_YES
				    : PD_SWAP_NO;
	if (w->v)
		pd_walk_visit_number(w, op->field, op->width, value);
	return PD_STEP_DONE;
}

/* Sets *present. Returns PD_STEP_ENDS_LIST if neither this row nor any later one exists. */
static enum pd_step check_condition(struct pd_walk *w, const struct pd_op *op, bool *present)
{
	bool met;

	switch (op->on) {
	case PD_ON_VARIANT:
		met = (w->variant & op->when_value) != 0;
		break;
	case PD_ON_TEST:
		met = op->field->when.test(w->body, (size_t)(w->c.at - w->body.data), w->c.swap);
		break;
	default:
		met = pd_op_condition_met(op, w->slots);
		break;
	}
	*present = met != op->unless;
	return *present && op->left > pd_left(&w->c) ? PD_STEP_ENDS_LIST : PD_STEP_DONE;
}

static enum pd_step walk_op(struct pd_walk *w, const struct pd_op *op, const uint8_t *start)
{
	switch (op->kind) {
	case PD_UINT:
		return walk_number(w, op);
	case PD_CSTR:
	case PD_ZSTR:
	case PD_CHARS:
	case PD_FSTR:
		return pd_walk_text(w, op, start);
	case PD_TEXT:
	case PD_BYTES:
	case PD_PAD:
	case PD_AREA:
		return pd_walk_bytes(w, op, start);
	case PD_NUMBERS:
	case PD_REGISTERS:
		return pd_walk_numbers(w, op, start);
	case PD_LITERAL:
		return pd_walk_literal(w, op);
	case PD_ARRAY:
		return walk_array(w, op, start);
	case PD_FEATURE:
		pd_walk_visit_bytes(w, op->field, (struct pd_bytes){ w->c.at, pd_left(&w->c) });
		w->c.at = w->c.end;
		return PD_STEP_DONE;
	default:
		return walk_struct(w, op);
	}
}

/* Walks the leading simple ops with one size check. */
static void walk_simple(struct pd_walk *w, const struct pd_op_list *list)
{
	const uint8_t *start = pd_take(&w->c, list->simple_size);

	for (uint32_t i = 0; i < list->nr_special; i++) {
		const struct pd_op *op = &list->ops[list->special[i]];

		if (op->kind == PD_PAD)
			pd_walk_visit_pad(w, start + op->offset, op->size);
		else
			w->slots[op->slot] = pd_walk_unmirror(op->field,
						      pd_load(start + op->offset, op->width,
							      w->c.swap),
						      op->width, w->c.swap);
	}
	if (w->batch) {
		w->batch(w->ctx, list->ops, list->nr_simple, start, w->c.swap);
		return;
	}
	if (!w->v)
		return;
	for (const struct pd_op *op = list->ops, *end = op + list->nr_simple; op < end; op++)
		if (op->kind != PD_PAD)
			pd_walk_visit_number(w, op->field, op->width,
					     pd_op_shown(op, start, w->c.swap));
}

static void clear_slots(struct pd_walk *w, const struct pd_op *op, const struct pd_op *end)
{
	for (; op < end; op++)
		if (op->slot >= 0)
			w->slots[op->slot] = 0;
}

/* Walks the first nr_ops of a list. In an extent (outer_end is the end around it) the remaining
 * bytes are a pad. On failure the cursor is at the start of the op that failed. */
static enum pd_step walk_list(struct pd_walk *w, const struct pd_op_list *list, uint32_t nr_ops,
			   const uint8_t *outer_end)
{
	const uint8_t *start = w->c.at;
	enum pd_swap swap = w->c.swap;
	uint32_t i = 0;

	if (list->nr_forward_refs)
		read_forward_refs(w, list);
	if (list->nr_simple && nr_ops >= list->nr_simple && pd_left(&w->c) >= list->simple_size) {
		walk_simple(w, list);
		i = list->nr_simple;
	}
	for (; i < nr_ops; i++) {
		const struct pd_op *op = &list->ops[i];
		const uint8_t *at = w->c.at;
		bool present = true;

		if (op->on != PD_ALWAYS || op->left)
			if (check_condition(w, op, &present) == PD_STEP_ENDS_LIST) {
				clear_slots(w, op, list->ops + list->nr_ops);
				break;
			}
		if (!present) {
			clear_slots(w, op, op + 1);
			continue;
		}
		if (walk_op(w, op, start) == PD_STEP_FAILED) {
			w->c.at = at;
			w->c.swap = swap;
			w->ops_done = i;
			return PD_STEP_FAILED;
		}
	}
	if (outer_end) {
		size_t rest = pd_left(&w->c);

		pd_walk_visit_pad(w, pd_take(&w->c, rest), rest);
	}
	w->c.swap = swap;
	w->ops_done = nr_ops;
	return PD_STEP_DONE;
}

static void walk_body(struct pd_walk *w, const struct pd_plan *plan, struct pd_bytes body,
		      uint64_t misc, enum pd_swap swap, uint32_t nr_ops)
{
	w->c = pd_cursor(body, swap);
	w->body = (struct pd_bytes){ w->c.at, body.size };	/* data is never NULL */
	if (plan->nr_slots > FEW_SLOTS)
		memset(w->slots, 0, plan->nr_slots * sizeof(*w->slots));
	else
		memset(w->slots, 0, FEW_SLOTS * sizeof(*w->slots));	/* constant size: inlined */
	w->slots[PD_MISC_SLOT] = misc;
	w->nr_pads = w->dirty_pads = 0;
	w->code = PD_OK;
	w->regular = PD_REGULAR;
	walk_list(w, plan->list, nr_ops, NULL);
}

/* Returns whether the variant takes every byte. */
static bool measure_variant(struct pd_walk *w, const struct pd_plan *plan, struct pd_bytes body,
			    uint64_t misc, enum pd_swap swap, unsigned int variant)
{
	w->variant = variant;
	walk_body(w, plan, body, misc, swap, plan->list->nr_ops);
	return w->code == PD_OK && w->c.at == w->c.end;
}

static void set_extent(const struct pd_walk *w, struct pd_extent_of *out)
{
	out->nr_ops = w->ops_done;
	out->variant = w->variant;
	out->end = out->at = (size_t)(w->c.at - w->body.data);
	out->code = w->code;
	if (w->code == PD_OK)
		return;
	out->field = w->field;
	out->want = w->want;
	out->have = w->have;
}

void pd_measure(const struct pd_plan *plan, struct pd_bytes body, uint64_t misc, enum pd_swap swap,
		enum pd_text_end text_end, struct pd_extent_of *out)
{
	struct pd_walk w;
	bool exact;

	if (pd_measure_fixed(plan, body, out))
		return;
	if (plan->list->tail && !plan->variants &&
	    pd_measure_tail(plan->list, body, swap, text_end, out))
		return;
	w.v = NULL;
	w.batch = NULL;
	w.text_end = text_end;
	/* Choose the lowest variant that takes every byte, or variant 0 if none does. */
	exact = measure_variant(&w, plan, body, misc, swap, 0);
	set_extent(&w, out);
	for (unsigned int variant = 1; variant <= plan->variants && !exact; variant++) {
		if (variant & ~plan->variants)
			continue;
		exact = measure_variant(&w, plan, body, misc, swap, variant);
		if (exact)
			set_extent(&w, out);
	}
}

bool pd_go_to_op(const struct pd_plan *plan, const struct pd_op *op, struct pd_bytes body,
		 uint32_t nr_ops, enum pd_swap swap, struct pd_cursor *c)
{
	struct pd_walk w;

	if (!op || (uint32_t)(op - plan->list->ops) >= nr_ops)
		return false;
	*c = pd_cursor(body, swap);
	if (op->offset != PD_VARIABLE)
		return pd_take(c, op->offset) != NULL;
	w.v = NULL;
	w.batch = NULL;
	w.text_end = PD_TEXT_TO_END;
	w.variant = 0;
	walk_body(&w, plan, body, 0, swap, (uint32_t)(op - plan->list->ops));
	return pd_take(c, (size_t)(w.c.at - body.data)) != NULL;
}

enum pd_regular pd_visit(const struct pd_plan *plan, struct pd_bytes body, uint64_t misc,
			 enum pd_swap swap, const struct pd_extent_of *extent,
			 const struct pd_visitor *v, void *ctx)
{
	return pd_visit_batches(plan, body, misc, swap, extent, v, NULL, ctx);
}

enum pd_regular pd_visit_batches(const struct pd_plan *plan, struct pd_bytes body, uint64_t misc,
				 enum pd_swap swap,
				 const struct pd_extent_of *extent, const struct pd_visitor *v,
				 pd_see_fixed_fields batch, void *ctx)
{
	struct pd_walk w;

	if (batch && pd_is_all_fixed(plan->list, body, extent->nr_ops)) {
		batch(ctx, plan->list->ops, plan->list->nr_ops, body.data, swap);
		return PD_REGULAR;
	}
	if (batch && plan->list->is_simple && extent->nr_ops == plan->list->nr_ops &&
	    pd_visit_tail(plan->list, pd_tail_at(plan->list, body, swap), body, swap, v, batch,
			  ctx))
		return PD_REGULAR;
	w.v = v;
	w.batch = batch;
	w.ctx = ctx;
	w.variant = extent->variant;
	w.text_end = PD_TEXT_TO_END;
	walk_body(&w, plan, body, misc, swap, extent->nr_ops);
	close_object(&w, (struct pad_mark){ 0, 0 });
	return w.regular;
}
