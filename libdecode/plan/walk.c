/* walk.c - run a plan over bytes.
 *
 * One function measures and visits, so that the two can't differ: without a visitor it only
 * counts.
 */
#include "plan/walk.h"

#include <string.h>

#define MAX_PADS 32
#define FEW_SLOTS 8

struct walk {
	struct pd_cursor c;
	struct pd_bytes body;
	const struct pd_visitor *v;	/* NULL: measure */
	pd_see_fixed_fields batch;			/* or NULL */
	void *ctx;
	unsigned int variant;
	enum pd_text_end text_end;
	enum pd_regular regular;
	unsigned int nr_pads, dirty_pads;
	uint32_t ops_done;		/* in the last list walked */
	uint64_t slots[PD_SLOTS];
	struct pd_bytes pads[MAX_PADS];
	/* why the walk ended */
	enum pd_code code;
	const struct pd_field *field;
	uint64_t want, have;
};

enum step { DONE, FAILED, LIST_ENDS };

static enum step fail(struct walk *w, const struct pd_op *op, enum pd_code code, uint64_t want)
{
	if (w->code == PD_OK) {
		w->code = code;
		w->field = op->field;
		w->want = want;
		w->have = pd_left(&w->c);
	}
	return FAILED;
}

static const uint8_t *take_bytes(struct walk *w, const struct pd_op *op, uint64_t n)
{
	const uint8_t *p = n <= SIZE_MAX ? pd_take(&w->c, (size_t)n) : NULL;

	if (!p)
		fail(w, op, PD_E_TRUNCATED, n);
	return p;
}

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

static uint64_t unmirror(const struct pd_field *f, uint64_t v, unsigned int width,
			 enum pd_swap swap)
{
	return f->msb_first && pd_is_big(swap) ? pd_bits_mirror(f, v, width, PD_TO_LITTLE) : v;
}

uint64_t pd_op_shown(const struct pd_op *op, const uint8_t *start, enum pd_swap swap)
{
	return unmirror(op->field, pd_op_value(op, start, swap), op->width, swap);
}

static void visit_number(struct walk *w, const struct pd_field *f, unsigned int width,
			 uint64_t value)
{
	if (f->show == PD_SIGNED)
		value = pd_sign_extend(value, width);
	if (f->show != PD_HIDDEN && w->v->number)
		w->v->number(w->ctx, f, value);
}

static void visit_text(struct walk *w, const struct pd_field *f, struct pd_bytes text)
{
	if (w->v && w->v->text)
		w->v->text(w->ctx, f, text);
}

static void visit_bytes(struct walk *w, const struct pd_field *f, struct pd_bytes bytes)
{
	if (w->v && w->v->bytes)
		w->v->bytes(w->ctx, f, bytes);
}

static void visit_pad(struct walk *w, const uint8_t *p, size_t n)
{
	struct pd_bytes span = { p, n };

	if (!w->v || !n)
		return;
	if (w->nr_pads < MAX_PADS)
		w->pads[w->nr_pads++] = span;
	w->dirty_pads += !pd_pad_is_clean(span);
}

/* Pads belong to the innermost object. */
struct pad_mark {
	unsigned int nr, dirty;
};

static inline struct pad_mark open_object(struct walk *w)
{
	struct pad_mark m = { w->nr_pads, w->dirty_pads };

	w->dirty_pads = 0;
	return m;
}

static inline void close_object(struct walk *w, struct pad_mark m)
{
	if (__builtin_expect(w->dirty_pads && w->v && w->v->padding, 0))
		w->v->padding(w->ctx, w->pads + m.nr, w->nr_pads - m.nr);
	w->nr_pads = m.nr;
	w->dirty_pads = m.dirty;
}

static enum step walk_list(struct walk *w, const struct pd_op_list *list, uint32_t nr_ops,
			   const uint8_t *outer_end);

static enum step read_other_count(struct walk *w, const struct pd_op *op, const uint8_t *start,
				  uint64_t *n)
{
	uint64_t unit = op->kind == PD_NUMBERS ? op->width : 1;
	uint64_t left = pd_left(&w->c);
	const uint8_t *p;

	switch (op->count_from) {
	case PD_COUNT_PRODUCT:
		*n = op->count_slot < 0 || op->by_slot < 0 ? 0 : w->slots[op->count_slot];
		if (*n && __builtin_mul_overflow(*n, w->slots[op->by_slot], n))
			return fail(w, op, PD_E_COUNT, UINT64_MAX);
		return DONE;
	case PD_COUNT_WORDS:
		*n = op->count_slot < 0 ? 0 : w->slots[op->count_slot];
		*n = *n / op->count_value + (*n % op->count_value != 0);
		return DONE;
	case PD_COUNT_INLINE:
		p = take_bytes(w, op, op->count_value);
		if (!p)
			return FAILED;
		*n = pd_load(p, (unsigned int)op->count_value, w->c.swap);
		return DONE;
	case PD_COUNT_REST:
		*n = left / unit;
		return DONE;
	case PD_COUNT_REST_MOD:
		*n = left % op->count_value;
		return DONE;
	case PD_COUNT_ALIGN:
		*n = (uint64_t)(w->c.at - start) % op->count_value;
		*n = *n ? op->count_value - *n : 0;
		return DONE;
	default:
		*n = op->count_value;	/* fixed; the plan has replaced PD_COUNT_CPUS */
		return DONE;
	}
}

/* Sets *n to the number of elements or bytes. Returns FAILED if the count itself is truncated. */
static inline enum step read_count(struct walk *w, const struct pd_op *op, const uint8_t *start,
				   uint64_t *n)
{
	if (op->count_from != PD_COUNT_SIBLING)
		return read_other_count(w, op, start, n);
	*n = op->count_slot < 0 ? 0 : w->slots[op->count_slot];
	if (op->count_value == 32)
		*n &= UINT32_MAX;
	return DONE;
}

static enum step walk_fstr(struct walk *w, const struct pd_op *op)
{
	const uint8_t *p = take_bytes(w, op, 4);
	uint32_t size;
	size_t text;

	if (!p)
		return FAILED;
	size = pd_load32(p, w->c.swap);
	p = take_bytes(w, op, size);
	if (!p)
		return FAILED;
	text = pd_text_length((struct pd_bytes){ p, size });
	if (size != pd_fstr_size(text) || !pd_all_zero((struct pd_bytes){ p + text, size - text }))
		w->regular = PD_IRREGULAR;
	visit_text(w, op->field, (struct pd_bytes){ p, text });
	return DONE;
}

/* Visits text followed by zeros, `size` bytes in all. */
static void visit_padded_text(struct walk *w, const struct pd_op *op, const uint8_t *p, size_t size)
{
	size_t text = pd_text_length((struct pd_bytes){ p, size });

	visit_text(w, op->field, (struct pd_bytes){ p, text });
	visit_pad(w, p + text, size - text);
}

static enum step walk_text(struct walk *w, const struct pd_op *op, const uint8_t *start)
{
	struct pd_bytes left = { w->c.at, pd_left(&w->c) };
	size_t text, size = left.size;
	const uint8_t *p;

	switch (op->kind) {
	case PD_CSTR:
		text = pd_text_length(left);
		if (w->text_end == PD_TEXT_ALIGNED && text < left.size) {
			size = text + 1 + (size_t)(-(w->c.at - start + (ptrdiff_t)text + 1) & 7);
			size = size < left.size ? size : left.size;
		}
		visit_padded_text(w, op, pd_take(&w->c, size), size);
		return DONE;
	case PD_ZSTR:
		text = pd_text_length(left);
		if (text == left.size)
			return fail(w, op, PD_E_TRUNCATED, text + 1);
		p = pd_take(&w->c, text + 1);
		visit_text(w, op->field, (struct pd_bytes){ p, text });
		return DONE;
	case PD_CHARS:
		p = take_bytes(w, op, op->width);
		if (!p)
			return FAILED;
		visit_padded_text(w, op, p, op->width);
		return DONE;
	default:
		return walk_fstr(w, op);
	}
}

static enum step walk_area(struct walk *w, const struct pd_op *op, uint64_t used)
{
	const uint8_t *p = take_bytes(w, op, op->width);

	if (!p)
		return FAILED;
	if (used == 0 || used > op->width)
		for (used = op->width;
		     used > 4 && pd_all_zero((struct pd_bytes){ p + used - 4, 4 });)
			used -= 4;
	visit_bytes(w, op->field, (struct pd_bytes){ p, (size_t)used });
	visit_pad(w, p + used, op->width - (size_t)used);
	return DONE;
}

static enum step walk_bytes(struct walk *w, const struct pd_op *op, const uint8_t *start)
{
	const uint8_t *p;
	uint64_t n;

	if (read_count(w, op, start, &n) != DONE)
		return FAILED;
	if (op->kind == PD_AREA)
		return walk_area(w, op, n);
	p = take_bytes(w, op, n);
	if (!p)
		return FAILED;
	if (op->kind == PD_PAD) {
		visit_pad(w, p, (size_t)n);
		if (op->count_from == PD_COUNT_REST &&
		    (n >= 8 || !pd_all_zero((struct pd_bytes){ p, (size_t)n })))
			w->regular = PD_IRREGULAR;
	} else if (op->kind == PD_TEXT)
		visit_text(w, op->field, (struct pd_bytes){ p, (size_t)n });
	else
		visit_bytes(w, op->field, (struct pd_bytes){ p, (size_t)n });
	return DONE;
}

static enum step walk_numbers(struct walk *w, const struct pd_op *op, const uint8_t *start)
{
	struct pd_numbers numbers = { NULL, 0, op->width, w->c.swap, op->names };
	uint64_t n = op->size / 8;

	if (op->kind != PD_REGISTERS && read_count(w, op, start, &n) != DONE)
		return FAILED;
	if (n > pd_left(&w->c) / op->width)
		return fail(w, op, PD_E_COUNT,
			    n > UINT64_MAX / op->width ? UINT64_MAX : n * op->width);
	numbers.count = (size_t)n;
	numbers.data = pd_take(&w->c, (size_t)n * op->width);
	if (w->v && w->v->numbers)
		w->v->numbers(w->ctx, op->field, &numbers);
	return DONE;
}

/* Reads numbers that earlier rows need; absent ones are 0. */
static void read_forward_refs(struct walk *w, const struct pd_op_list *list)
{
	for (uint32_t i = 0; i < list->nr_forward_refs; i++) {
		const struct pd_forward_ref *a = &list->forward_refs[i];
		struct pd_cursor c = w->c;
		uint64_t v = 0;

		if (a->offset != PD_VARIABLE && pd_take(&c, a->offset) &&
		    pd_take_number(&c, a->op->width, &v))
			v = unmirror(a->op->field, v, a->op->width, c.swap);
		w->slots[a->op->slot] = v;
	}
}

/* Ends a struct after the size that it states, or at the outer end if that comes first. */
static void limit_to_own_size(struct walk *w, const struct pd_op *op)
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
		fail(w, op, PD_E_TRUNCATED, size);	/* but what is there can be read */
	}
}

/* Walks a group or struct in its extent; bytes of the extent after the last row are a pad. */
static enum step walk_struct(struct walk *w, const struct pd_op *op)
{
	const uint8_t *outer_end = w->c.end;
	struct pad_mark mark = { 0, 0 };
	enum step step;

	if (op->kind == PD_STRUCT) {
		mark = open_object(w);
		if (w->v && w->v->enter)
			w->v->enter(w->ctx, op->field);
	}
	if (op->field->extent.from == PD_EXTENT_SIBLING) {
		uint64_t size = op->extent_slot < 0 ? 0 : w->slots[op->extent_slot];

		if (size > pd_left(&w->c))
			return fail(w, op, PD_E_SIZE, size);
		w->c.end = w->c.at + size;
	}
	if (op->field->extent.from == PD_EXTENT_OWN)
		limit_to_own_size(w, op);
	step = walk_list(w, op->list, op->list->nr_ops,
			 op->field->extent.from == PD_EXTENT_NONE ? NULL : outer_end);
	w->c.end = outer_end;
	if (step == FAILED)
		return FAILED;
	if (op->kind == PD_STRUCT) {
		close_object(w, mark);
		if (w->v && w->v->leave)
			w->v->leave(w->ctx, op->field);
	}
	return DONE;
}

static enum step walk_element(struct walk *w, const struct pd_op *op)
{
	bool bare = op->list->nr_ops == 1 && op->list->ops[0].field->name[0] == '\0' &&
		    op->list->ops[0].kind != PD_GROUP;
	struct pad_mark mark;

	if (bare)
		return walk_list(w, op->list, 1, NULL);
	mark = open_object(w);
	if (w->v && w->v->enter)
		w->v->enter(w->ctx, NULL);
	if (walk_list(w, op->list, op->list->nr_ops, NULL) == FAILED)
		return FAILED;
	close_object(w, mark);
	if (w->v && w->v->leave)
		w->v->leave(w->ctx, NULL);
	return DONE;
}

static enum step walk_array(struct walk *w, const struct pd_op *op, const uint8_t *start)
{
	uint64_t n, unit = op->list->size;

	if (read_count(w, op, start, &n) != DONE)
		return FAILED;
	if (op->count_from == PD_COUNT_REST)
		n = UINT64_MAX;
	else if (unit == PD_VARIABLE ? n > pd_left(&w->c) : unit && n > pd_left(&w->c) / unit)
		return fail(w, op, PD_E_COUNT,
			    unit == PD_VARIABLE || n > UINT64_MAX / unit ? n : n * unit);
	if (w->v && w->v->enter_array)
		w->v->enter_array(w->ctx, op->field, (size_t)n);
	if (!w->v && unit != PD_VARIABLE && op->count_from != PD_COUNT_REST)
		return pd_take(&w->c, (size_t)(n * unit)) ? DONE : FAILED;
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *at = w->c.at;

		if (op->count_from == PD_COUNT_REST && !pd_left(&w->c))
			break;
		if (walk_element(w, op) == FAILED)
			return FAILED;
		if (w->c.at == at && op->count_from == PD_COUNT_REST)
			return fail(w, op, PD_E_SIZE, 1);
	}
	if (w->v && w->v->leave_array)
		w->v->leave_array(w->ctx, op->field);
	return DONE;
}

static enum step walk_literal(struct walk *w, const struct pd_op *op)
{
	const uint8_t *p = take_bytes(w, op, op->width);

	if (!p)
		return FAILED;
	if (memcmp(p, op->field->literal, op->width) != 0) {
		w->c.at = p;
		return fail(w, op, PD_E_MAGIC, op->width);
	}
	return DONE;
}

static enum step walk_number(struct walk *w, const struct pd_op *op)
{
	const uint8_t *p = take_bytes(w, op, op->width);
	uint64_t value;

	if (!p)
		return FAILED;
	value = unmirror(op->field, pd_load(p, op->width, w->c.swap), op->width, w->c.swap);
	if (op->slot >= 0)
		w->slots[op->slot] = value;
	if (op->field->show == PD_ORDER)
		w->c.swap = (value != 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
				    ? PD_SWAP_YES
				    : PD_SWAP_NO;
	if (w->v)
		visit_number(w, op->field, op->width, value);
	return DONE;
}

/* Sets *present. Returns LIST_ENDS if neither this row nor any later one exists. */
static enum step check_condition(struct walk *w, const struct pd_op *op, bool *present)
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
	return *present && op->left > pd_left(&w->c) ? LIST_ENDS : DONE;
}

static enum step walk_op(struct walk *w, const struct pd_op *op, const uint8_t *start)
{
	switch (op->kind) {
	case PD_UINT:
		return walk_number(w, op);
	case PD_CSTR:
	case PD_ZSTR:
	case PD_CHARS:
	case PD_FSTR:
		return walk_text(w, op, start);
	case PD_TEXT:
	case PD_BYTES:
	case PD_PAD:
	case PD_AREA:
		return walk_bytes(w, op, start);
	case PD_NUMBERS:
	case PD_REGISTERS:
		return walk_numbers(w, op, start);
	case PD_LITERAL:
		return walk_literal(w, op);
	case PD_ARRAY:
		return walk_array(w, op, start);
	case PD_FEATURE:
		visit_bytes(w, op->field, (struct pd_bytes){ w->c.at, pd_left(&w->c) });
		w->c.at = w->c.end;
		return DONE;
	default:
		return walk_struct(w, op);
	}
}

/* Walks the leading simple ops with one size check. */
static void walk_simple(struct walk *w, const struct pd_op_list *list)
{
	const uint8_t *start = pd_take(&w->c, list->simple_size);

	for (uint32_t i = 0; i < list->nr_special; i++) {
		const struct pd_op *op = &list->ops[list->special[i]];

		if (op->kind == PD_PAD)
			visit_pad(w, start + op->offset, op->size);
		else
			w->slots[op->slot] = unmirror(op->field,
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
			visit_number(w, op->field, op->width, pd_op_shown(op, start, w->c.swap));
}

static void clear_slots(struct walk *w, const struct pd_op *op, const struct pd_op *end)
{
	for (; op < end; op++)
		if (op->slot >= 0)
			w->slots[op->slot] = 0;
}

/* Walks the first nr_ops of a list. In an extent (outer_end is the end around it) the remaining
 * bytes are a pad. On failure the cursor is at the start of the op that failed. */
static enum step walk_list(struct walk *w, const struct pd_op_list *list, uint32_t nr_ops,
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
			if (check_condition(w, op, &present) == LIST_ENDS) {
				clear_slots(w, op, list->ops + list->nr_ops);
				break;
			}
		if (!present) {
			clear_slots(w, op, op + 1);
			continue;
		}
		if (walk_op(w, op, start) == FAILED) {
			w->c.at = at;
			w->c.swap = swap;
			w->ops_done = i;
			return FAILED;
		}
	}
	if (outer_end) {
		size_t rest = pd_left(&w->c);

		visit_pad(w, pd_take(&w->c, rest), rest);
	}
	w->c.swap = swap;
	w->ops_done = nr_ops;
	return DONE;
}

static void walk_body(struct walk *w, const struct pd_plan *plan, struct pd_bytes body,
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
static bool measure_variant(struct walk *w, const struct pd_plan *plan, struct pd_bytes body,
			    uint64_t misc, enum pd_swap swap, unsigned int variant)
{
	w->variant = variant;
	walk_body(w, plan, body, misc, swap, plan->list->nr_ops);
	return w->code == PD_OK && w->c.at == w->c.end;
}

static void set_extent(const struct walk *w, struct pd_extent_of *out)
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
	struct walk w;
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
	struct walk w;

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
	struct walk w;

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
