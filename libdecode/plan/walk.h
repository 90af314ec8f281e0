/* walk.h - runs a plan over bytes. First measure: how far do the bytes keep to the layout? Then visit just that much. */
#ifndef PD_PLAN_WALK_H
#define PD_PLAN_WALK_H

#include <string.h>

#include "base/cursor.h"
#include "pd/visit.h"
#include "plan/plan.h"

/* What pd_measure() found out; pd_visit() takes it from there. */
struct pd_extent_of {
	uint32_t nr_ops;		/* ops of the outermost list that fit */
	unsigned int variant;
	size_t end;			/* bytes those ops take */
	enum pd_code code;		/* PD_OK, or why the next op does not fit; only then the rest is set */
	const struct pd_field *field;	/* the row that does not fit */
	size_t at;			/* where it begins */
	uint64_t want, have;
};

enum pd_text_end {
	PD_TEXT_TO_END,		/* a CSTR takes all that is left */
	PD_TEXT_ALIGNED,	/* only up to its NUL and the padding to 8 */
};

/* body: what the plan's rows describe, without the record's header and trailer. */
void pd_measure(const struct pd_plan *plan, struct pd_bytes body, uint64_t misc, enum pd_swap swap,
		enum pd_text_end text_end, struct pd_extent_of *out);

/* The same for the usual case, where it takes no walk: a layout of one size, of which nothing is cut off. */
static inline bool pd_measure_fixed(const struct pd_plan *plan, struct pd_bytes body, struct pd_extent_of *out)
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

/* Where the tail of a list begins; beyond the body: nowhere. */
static inline size_t pd_tail_at(const struct pd_op_list *list, struct pd_bytes body, enum pd_swap swap)
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

/* Numbers with their count before them, of which the cursor is at that. */
static inline bool pd_take_counted(struct pd_cursor *c, const struct pd_op *op)
{
	uint64_t n;
	size_t size;

	return pd_take_number(c, (unsigned int)op->count_value, &n) && !__builtin_mul_overflow(n, op->width, &size) &&
	       pd_take(c, size);
}

/* A size, so many bytes, perhaps a pad. */
static inline bool pd_take_sized(struct pd_cursor *c, const struct pd_op_list *list)
{
	uint64_t size;

	if (!pd_take_number(c, list->ops[0].width, &size) || size > pd_left(c) || !pd_take(c, (size_t)size))
		return false;
	return list->nr_ops == 2 || pd_take(c, pd_left(c) % list->ops[2].count_value);
}

/* Where a list with a tail ends by what that says of itself; a text takes all. SIZE_MAX: not in the body. */
static inline size_t pd_tail_end(const struct pd_op_list *list, struct pd_bytes body, enum pd_swap swap)
{
	const struct pd_op *last = &list->ops[list->nr_ops - 1];
	struct pd_cursor c = pd_cursor(body, swap);

	if (!pd_take(&c, pd_tail_at(list, body, swap)))
		return SIZE_MAX;
	if (list->tail == PD_TAIL_TEXT)
		return body.size;
	if (!(list->tail == PD_TAIL_NUMBERS ? pd_take_counted(&c, last) : pd_take_sized(&c, last->list)))
		return SIZE_MAX;
	return body.size - pd_left(&c);
}

/* And for lists with a tail: what a walk of them finds where nothing is wrong. False: walk it. */
bool pd_measure_tail(const struct pd_op_list *list, struct pd_bytes body, enum pd_swap swap,
		     enum pd_text_end text_end, struct pd_extent_of *out);

enum pd_regular {
	PD_REGULAR,	/* encoding what was seen gives the same bytes */
	PD_IRREGULAR,	/* it would not: a text's length is not the one perf would write */
};

/* n ops in a row, for who has something faster than a call for each number: pd_op_shown() gives those, from the start of their
 * list. There are pads among them, and numbers that are not shown. */
typedef void (*pd_see_fixed_fields)(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap);

/* Visits the measured ops. The padding of the outermost object comes last. */
enum pd_regular pd_visit(const struct pd_plan *plan, struct pd_bytes body, uint64_t misc, enum pd_swap swap,
			 const struct pd_extent_of *extent, const struct pd_visitor *v, void *ctx);
/* The same; what comes in a row goes to `run` instead of v->number, unless it is NULL. With it, v has every function. */
enum pd_regular pd_visit_runs(const struct pd_plan *plan, struct pd_bytes body, uint64_t misc, enum pd_swap swap,
			      const struct pd_extent_of *extent, const struct pd_visitor *v, pd_see_fixed_fields run, void *ctx);

/* A visitor of a caller, who may have been compiled when it had fewer functions: a copy in *room where that is so. One of
 * a later library has more, which are not called. Internal visitors are whole. */
static inline const struct pd_visitor *pd_visitor_of(const struct pd_visitor *v, struct pd_visitor *room)
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

/* Has no pad among the simple ops anything in it? */
static inline bool pd_pads_are_clean(const struct pd_op_list *list, const uint8_t *start)
{
	for (uint32_t i = 0; i < list->nr_pads; i++) {
		const struct pd_op *op = &list->ops[list->noted[i]];

		if (!pd_pad_is_clean((struct pd_bytes){ start + op->offset, op->size }))
			return false;
	}
	return true;
}

/* Simple ops and nothing else, of which no pad has anything in it? Then a visit is one call of a pd_see_fixed_fields. */
static inline bool pd_is_all_fixed(const struct pd_op_list *list, struct pd_bytes body, uint32_t nr_ops)
{
	return list->nr_simple && list->nr_simple == list->nr_ops && nr_ops == list->nr_ops &&
	       list->simple_size <= body.size && pd_pads_are_clean(list, body.data);
}

/* Visits a list that is_simple, all of which is there, as a walk would; at: pd_tail_at(). False: walk it, nothing was visited. */
bool pd_visit_tail(const struct pd_op_list *list, size_t at, struct pd_bytes body, enum pd_swap swap,
		   const struct pd_visitor *v, pd_see_fixed_fields run, void *ctx);

/* A bit-field word as a little-endian machine numbers it, from how a big-endian one does, or the other way. */
enum pd_mirror { PD_TO_LITTLE, PD_TO_BIG };
uint64_t pd_bits_mirror(const struct pd_field *f, uint64_t v, unsigned int width, enum pd_mirror way);

/* v's low width bytes, sign-extended. */
static inline uint64_t pd_sign_extend(uint64_t v, unsigned int width)
{
	unsigned int shift = 64 - 8 * width;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

/* A number of a run as a visitor gets it. */
uint64_t pd_op_shown(const struct pd_op *op, const uint8_t *start, enum pd_swap swap);
/* The same of one without bit-fields. */
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

/* Is a span read with this swap big-endian? */
static inline bool pd_is_big(enum pd_swap swap)
{
	return (swap == PD_SWAP_YES) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* The length perf gives a feature string of this many bytes. */
static inline size_t pd_fstr_size(size_t text)
{
	return (text + 1 + 63) & ~(size_t)63;
}

#endif
