/* walk.h - run a plan over bytes. pd_measure() finds how much of the bytes matches the layout;
 * pd_visit() then visits that part.
 */
#ifndef PD_PLAN_WALK_H
#define PD_PLAN_WALK_H

#include <string.h>

#include "base/cursor.h"
#include "pd/visit.h"
#include "plan/plan.h"

/* The result of pd_measure(), for pd_visit(). */
struct pd_extent_of {
	uint32_t nr_ops;		/* matching ops of the outermost list */
	unsigned int variant;
	size_t end;			/* their size in bytes */
	/* PD_OK, or why the next op does not match; only then the rest is set */
	enum pd_code code;
	const struct pd_field *field;	/* the row that does not match */
	size_t at;			/* its offset */
	uint64_t want, have;
};

enum pd_text_end {
	PD_TEXT_TO_END,		/* a CSTR takes all remaining bytes */
	PD_TEXT_ALIGNED,	/* a CSTR ends after its NUL and the padding to 8 */
};

/* body: the record without header and trailer. */
void pd_measure(const struct pd_plan *plan, struct pd_bytes body, uint64_t misc, enum pd_swap swap,
		enum pd_text_end text_end, struct pd_extent_of *out);

/* Fast path for a layout of constant size that is not truncated. Returns false if it does not
 * apply. */
static inline bool pd_measure_fixed(const struct pd_plan *plan, struct pd_bytes body,
				    struct pd_extent_of *out)
{
	const struct pd_op_list *list = plan->list;

	if (list->size > body.size || list->size == PD_VARIABLE)
		return false;
	out->nr_ops = list->nr_ops;
	out->variant = 0;
	out->end = list->size;
	out->code = PD_OK;
	return true;
}

/* Returns the offset of a list's tail, or SIZE_MAX if it is beyond the body. */
static inline size_t pd_tail_at(const struct pd_op_list *list, struct pd_bytes body,
				enum pd_swap swap)
{
	const struct pd_op *optional = list->optional;

	if (!optional)
		return list->ops[list->nr_ops - 1].offset;
	if (optional->offset > body.size)
		return SIZE_MAX;
	if (optional->field->when.test(body, optional->offset, swap) == optional->unless)
		return optional->offset;
	return optional->offset + optional->size;
}

/* Takes numbers and the count before them. */
static inline bool pd_take_counted(struct pd_cursor *c, const struct pd_op *op)
{
	uint64_t n;
	size_t size;

	return pd_take_number(c, (unsigned int)op->count_value, &n) &&
	       !__builtin_mul_overflow(n, op->width, &size) && pd_take(c, size);
}

/* Takes a size, bytes of that size, and the optional pad. */
static inline bool pd_take_sized(struct pd_cursor *c, const struct pd_op_list *list)
{
	uint64_t size;

	if (!pd_take_number(c, list->ops[0].width, &size) || size > pd_left(c) ||
	    !pd_take(c, (size_t)size))
		return false;
	return list->nr_ops == 2 || pd_take(c, pd_left(c) % list->ops[2].count_value);
}

/* Returns where a list with a tail ends by its own size (a text takes all), or SIZE_MAX if that is
 * beyond the body. */
static inline size_t pd_tail_end(const struct pd_op_list *list, struct pd_bytes body,
				 enum pd_swap swap)
{
	const struct pd_op *last = &list->ops[list->nr_ops - 1];
	struct pd_cursor c = pd_cursor(body, swap);

	if (!pd_take(&c, pd_tail_at(list, body, swap)))
		return SIZE_MAX;
	if (list->tail == PD_TAIL_TEXT)
		return body.size;
	if (!(list->tail == PD_TAIL_NUMBERS ? pd_take_counted(&c, last) :
	      pd_take_sized(&c, last->list)))
		return SIZE_MAX;
	return body.size - pd_left(&c);
}

/* Fast path for lists with a tail; gives the same result as a walk without errors. Returns false if
 * it does not apply. */
bool pd_measure_tail(const struct pd_op_list *list, struct pd_bytes body, enum pd_swap swap,
		     enum pd_text_end text_end, struct pd_extent_of *out);

/* Sets *c to where a row of the outermost list begins in a body that holds the first nr_ops rows.
 * Returns false if the row, which may be NULL, is not among them. */
bool pd_go_to_op(const struct pd_plan *plan, const struct pd_op *op, struct pd_bytes body,
		 uint32_t nr_ops, enum pd_swap swap, struct pd_cursor *c);

/* Gets the callchain of such a body without a visitor. */
bool pd_take_callchain(const struct pd_plan *plan, struct pd_bytes body, uint32_t nr_ops,
		       enum pd_swap swap, struct pd_numbers *out);

enum pd_regular {
	PD_REGULAR,	/* encoding the visited values gives the same bytes */
	PD_IRREGULAR,	/* it does not: a text's length is not the one that perf would write */
};

/* Takes n consecutive ops at once, for callers that are faster without a call per number.
 * pd_op_shown() returns their values; `start` is the start of their list. Pads and hidden numbers
 * are among them. */
typedef void (*pd_see_fixed_fields)(void *ctx, const struct pd_op *ops, size_t n,
				    const uint8_t *start, enum pd_swap swap);

/* Visits the measured ops; the padding of the outermost object comes last. */
enum pd_regular pd_visit(const struct pd_plan *plan, struct pd_bytes body, uint64_t misc,
			 enum pd_swap swap,
			 const struct pd_extent_of *extent, const struct pd_visitor *v, void *ctx);
/* Like pd_visit(), but passes consecutive simple ops to `batch` instead of v->number, unless it is
 * NULL. With `batch`, v must have every function. */
enum pd_regular pd_visit_batches(const struct pd_plan *plan, struct pd_bytes body, uint64_t misc,
				 enum pd_swap swap,
				 const struct pd_extent_of *extent, const struct pd_visitor *v,
				 pd_see_fixed_fields batch, void *ctx);

/* Returns a visitor of this library's size: a copy in *room if the caller was compiled with fewer
 * functions. Functions of a later library are not called. Internal visitors are complete. */
static inline const struct pd_visitor *pd_visitor_of(const struct pd_visitor *v,
						     struct pd_visitor *room)
{
	if (v->size >= sizeof(*v))
		return v;
	memset(room, 0, sizeof(*room));
	memcpy(room, v, v->size);
	return room;
}

static inline bool pd_pad_is_clean(struct pd_bytes pad)
{
	return pad.size == 4 ? pd_load32(pad.data, PD_SWAP_NO) == 0 : pd_all_zero(pad);
}

/* Returns whether all pads among the simple ops are zero. */
static inline bool pd_pads_are_clean(const struct pd_op_list *list, const uint8_t *start)
{
	for (uint32_t i = 0; i < list->nr_pads; i++) {
		const struct pd_op *op = &list->ops[list->special[i]];

		if (!pd_pad_is_clean((struct pd_bytes){ start + op->offset, op->size }))
			return false;
	}
	return true;
}

/* Returns whether the list has only simple ops and clean pads: then a visit is one call of a
 * pd_see_fixed_fields. */
static inline bool pd_is_all_fixed(const struct pd_op_list *list, struct pd_bytes body,
				   uint32_t nr_ops)
{
	return list->nr_simple && list->nr_simple == list->nr_ops && nr_ops == list->nr_ops &&
	       list->simple_size <= body.size && pd_pads_are_clean(list, body.data);
}

/* Visits a complete list that is_simple like a walk would; at: pd_tail_at(). Returns false, with
 * nothing visited, if a walk is needed. */
bool pd_visit_tail(const struct pd_op_list *list, size_t at, struct pd_bytes body,
		   enum pd_swap swap,
		   const struct pd_visitor *v, pd_see_fixed_fields batch, void *ctx);

/* Big-endian compilers allocate bit-fields from the most significant bit: converts such a word to
 * little-endian numbering, or back. */
enum pd_mirror { PD_TO_LITTLE, PD_TO_BIG };
uint64_t pd_bits_mirror(const struct pd_field *f, uint64_t v, unsigned int width,
			enum pd_mirror way);

/* Sign-extends the low width bytes. */
static inline uint64_t pd_sign_extend(uint64_t v, unsigned int width)
{
	unsigned int shift = 64 - 8 * width;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

/* Returns the number as visitors get it. */
uint64_t pd_op_shown(const struct pd_op *op, const uint8_t *start, enum pd_swap swap);
/* The same for a number without bit-fields. */
static inline uint64_t pd_op_value(const struct pd_op *op, const uint8_t *start, enum pd_swap swap)
{
	const uint8_t *p = start + op->offset;
	uint64_t v;

	if (op->width == 8)
		v = pd_load64(p, swap);
	else if (op->width == 4)
		v = pd_load32(p, swap);
	else
		v = pd_load(p, op->width, swap);
	if (op->field->show == PD_SIGNED)
		v = pd_sign_extend(v, op->width);
	return v;
}

/* Returns whether data read with this swap is big-endian. */
static inline bool pd_is_big(enum pd_swap swap)
{
	return (swap == PD_SWAP_YES) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* Returns the size that perf gives a feature string of this length. */
static inline size_t pd_fstr_size(size_t text)
{
	return (text + 1 + 63) & ~(size_t)63;
}

#endif
