/* walk_internal.h - state of a walk, shared by walk.c and walk_leaf.c. */
#ifndef PD_PLAN_WALK_INTERNAL_H
#define PD_PLAN_WALK_INTERNAL_H

#include "plan/walk.h"

#define PD_WALK_PADS 32

/* One function measures and visits, so that the two can't differ: without a visitor it only
 * counts. */
struct pd_walk {
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
	struct pd_bytes pads[PD_WALK_PADS];
	/* why the walk ended */
	enum pd_code code;
	const struct pd_field *field;
	uint64_t want, have;
};

enum pd_step { PD_STEP_DONE, PD_STEP_FAILED, PD_STEP_ENDS_LIST };

static inline void pd_walk_visit_number(struct pd_walk *w, const struct pd_field *f,
					unsigned int width, uint64_t value)
{
	if (f->show == PD_SIGNED)
		value = pd_sign_extend(value, width);
	if (f->show != PD_HIDDEN && w->v->number)
		w->v->number(w->ctx, f, value);
}

static inline void pd_walk_visit_text(struct pd_walk *w, const struct pd_field *f,
				      struct pd_bytes text)
{
	if (w->v && w->v->text)
		w->v->text(w->ctx, f, text);
}

static inline void pd_walk_visit_bytes(struct pd_walk *w, const struct pd_field *f,
				       struct pd_bytes bytes)
{
	if (w->v && w->v->bytes)
		w->v->bytes(w->ctx, f, bytes);
}

static inline void pd_walk_visit_pad(struct pd_walk *w, const uint8_t *p, size_t n)
{
	struct pd_bytes span = { p, n };

	if (!w->v || !n)
		return;
	if (w->nr_pads < PD_WALK_PADS)
		w->pads[w->nr_pads++] = span;
	w->dirty_pads += !pd_pad_is_clean(span);
}

static inline uint64_t pd_walk_unmirror(const struct pd_field *f, uint64_t v,
					unsigned int width, enum pd_swap swap)
{
	return f->msb_first && pd_is_big(swap) ? pd_bits_mirror(f, v, width, PD_TO_LITTLE) : v;
}

/* --- walk_leaf.c --- */

/* Records why the walk ends at the row, unless it ended before. Returns PD_STEP_FAILED. */
enum pd_step pd_walk_fail(struct pd_walk *w, const struct pd_op *op, enum pd_code code,
			  uint64_t want);

/* Takes n bytes of a row. Returns NULL, after pd_walk_fail(), if fewer are left. */
static inline const uint8_t *pd_walk_take(struct pd_walk *w, const struct pd_op *op, uint64_t n)
{
	const uint8_t *p = n <= SIZE_MAX ? pd_take(&w->c, (size_t)n) : NULL;

	if (!p)
		pd_walk_fail(w, op, PD_E_TRUNCATED, n);
	return p;
}

/* Sets *n to a count that is not an earlier row of the list: see pd_walk_count(). */
enum pd_step pd_walk_other_count(struct pd_walk *w, const struct pd_op *op, const uint8_t *start,
				 uint64_t *n);

/* Walk rows without inner rows. `start`: of their list. */
enum pd_step pd_walk_literal(struct pd_walk *w, const struct pd_op *op);
enum pd_step pd_walk_text(struct pd_walk *w, const struct pd_op *op, const uint8_t *start);
enum pd_step pd_walk_bytes(struct pd_walk *w, const struct pd_op *op, const uint8_t *start);
enum pd_step pd_walk_numbers(struct pd_walk *w, const struct pd_op *op, const uint8_t *start);

/* Sets *n to the number of elements or bytes. Returns PD_STEP_FAILED if the count itself is
 * truncated. */
static inline enum pd_step pd_walk_count(struct pd_walk *w, const struct pd_op *op,
					 const uint8_t *start, uint64_t *n)
{
	if (op->count_from != PD_COUNT_SIBLING)
		return pd_walk_other_count(w, op, start, n);
	*n = op->count_slot < 0 ? 0 : w->slots[op->count_slot];
	if (op->count_value == 32)
		*n &= UINT32_MAX;
	return PD_STEP_DONE;
}

#endif
