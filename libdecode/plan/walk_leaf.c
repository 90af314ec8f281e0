/* walk_leaf.c - walk rows without inner rows: literals, texts, bytes, arrays of numbers. */
#include "plan/walk_internal.h"

#include <string.h>

enum pd_step pd_walk_fail(struct pd_walk *w, const struct pd_op *op, enum pd_code code,
			  uint64_t want)
{
	if (w->code == PD_OK) {
		w->code = code;
		w->field = op->field;
		w->want = want;
		w->have = pd_left(&w->c);
	}
	return PD_STEP_FAILED;
}

enum pd_step pd_walk_other_count(struct pd_walk *w, const struct pd_op *op, const uint8_t *start,
				  uint64_t *n)
{
	uint64_t unit = op->kind == PD_NUMBERS ? op->width : 1;
	uint64_t left = pd_left(&w->c);
	const uint8_t *p;

	switch (op->count_from) {
	case PD_COUNT_PRODUCT:
		*n = op->count_slot < 0 || op->by_slot < 0 ? 0 : w->slots[op->count_slot];
		if (*n && __builtin_mul_overflow(*n, w->slots[op->by_slot], n))
			return pd_walk_fail(w, op, PD_E_COUNT, UINT64_MAX);
		return PD_STEP_DONE;
	case PD_COUNT_WORDS:
		*n = op->count_slot < 0 ? 0 : w->slots[op->count_slot];
		*n = *n / op->count_value + (*n % op->count_value != 0);
		return PD_STEP_DONE;
	case PD_COUNT_INLINE:
		p = pd_walk_take(w, op, op->count_value);
		if (!p)
			return PD_STEP_FAILED;
		*n = pd_load(p, (unsigned int)op->count_value, w->c.swap);
		return PD_STEP_DONE;
	case PD_COUNT_REST:
		*n = left / unit;
		return PD_STEP_DONE;
	case PD_COUNT_REST_MOD:
		*n = left % op->count_value;
		return PD_STEP_DONE;
	case PD_COUNT_ALIGN:
		*n = (uint64_t)(w->c.at - start) % op->count_value;
		*n = *n ? op->count_value - *n : 0;
		return PD_STEP_DONE;
	default:
		*n = op->count_value;	/* fixed; the plan has replaced PD_COUNT_CPUS */
		return PD_STEP_DONE;
	}
}

enum pd_step pd_walk_literal(struct pd_walk *w, const struct pd_op *op)
{
	const uint8_t *p = pd_walk_take(w, op, op->width);

	if (!p)
		return PD_STEP_FAILED;
	if (memcmp(p, op->field->literal, op->width) != 0) {
		w->c.at = p;
		return pd_walk_fail(w, op, PD_E_MAGIC, op->width);
	}
	return PD_STEP_DONE;
}

static enum pd_step walk_fstr(struct pd_walk *w, const struct pd_op *op)
{
	const uint8_t *p = pd_walk_take(w, op, 4);
	uint32_t size;
	size_t text;

	if (!p)
		return PD_STEP_FAILED;
	size = pd_load32(p, w->c.swap);
	p = pd_walk_take(w, op, size);
	if (!p)
		return PD_STEP_FAILED;
	text = pd_text_length((struct pd_bytes){ p, size });
	if (size != pd_fstr_size(text) || !pd_all_zero((struct pd_bytes){ p + text, size - text }))
		w->regular = PD_IRREGULAR;
	pd_walk_visit_text(w, op->field, (struct pd_bytes){ p, text });
	return PD_STEP_DONE;
}

/* Visits text followed by zeros, `size` bytes in all. */
static void visit_padded_text(struct pd_walk *w, const struct pd_op *op, const uint8_t *p,
			      size_t size)
{
	size_t text = pd_text_length((struct pd_bytes){ p, size });

	pd_walk_visit_text(w, op->field, (struct pd_bytes){ p, text });
	pd_walk_visit_pad(w, p + text, size - text);
}

enum pd_step pd_walk_text(struct pd_walk *w, const struct pd_op *op, const uint8_t *start)
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
		return PD_STEP_DONE;
	case PD_ZSTR:
		text = pd_text_length(left);
		if (text == left.size)
			return pd_walk_fail(w, op, PD_E_TRUNCATED, text + 1);
		p = pd_take(&w->c, text + 1);
		pd_walk_visit_text(w, op->field, (struct pd_bytes){ p, text });
		return PD_STEP_DONE;
	case PD_CHARS:
		p = pd_walk_take(w, op, op->width);
		if (!p)
			return PD_STEP_FAILED;
		visit_padded_text(w, op, p, op->width);
		return PD_STEP_DONE;
	default:
		return walk_fstr(w, op);
	}
}

static enum pd_step walk_area(struct pd_walk *w, const struct pd_op *op, uint64_t used)
{
	const uint8_t *p = pd_walk_take(w, op, op->width);

	if (!p)
		return PD_STEP_FAILED;
	if (used == 0 || used > op->width)
		for (used = op->width;
		     used > 4 && pd_all_zero((struct pd_bytes){ p + used - 4, 4 });)
			used -= 4;
	pd_walk_visit_bytes(w, op->field, (struct pd_bytes){ p, (size_t)used });
	pd_walk_visit_pad(w, p + used, op->width - (size_t)used);
	return PD_STEP_DONE;
}

enum pd_step pd_walk_bytes(struct pd_walk *w, const struct pd_op *op, const uint8_t *start)
{
	const uint8_t *p;
	uint64_t n;

	if (pd_walk_count(w, op, start, &n) != PD_STEP_DONE)
		return PD_STEP_FAILED;
	if (op->kind == PD_AREA)
		return walk_area(w, op, n);
	p = pd_walk_take(w, op, n);
	if (!p)
		return PD_STEP_FAILED;
	if (op->kind == PD_PAD) {
		pd_walk_visit_pad(w, p, (size_t)n);
		if (op->count_from == PD_COUNT_REST &&
		    (n >= 8 || !pd_all_zero((struct pd_bytes){ p, (size_t)n })))
			w->regular = PD_IRREGULAR;
	} else if (op->kind == PD_TEXT)
		pd_walk_visit_text(w, op->field, (struct pd_bytes){ p, (size_t)n });
	else
		pd_walk_visit_bytes(w, op->field, (struct pd_bytes){ p, (size_t)n });
	return PD_STEP_DONE;
}

enum pd_step pd_walk_numbers(struct pd_walk *w, const struct pd_op *op, const uint8_t *start)
{
	struct pd_numbers numbers = { NULL, 0, op->width, w->c.swap, op->names };
	uint64_t n = op->size / 8;

	if (op->kind != PD_REGISTERS && pd_walk_count(w, op, start, &n) != PD_STEP_DONE)
		return PD_STEP_FAILED;
	if (n > pd_left(&w->c) / op->width)
		return pd_walk_fail(w, op, PD_E_COUNT,
			    n > UINT64_MAX / op->width ? UINT64_MAX : n * op->width);
	numbers.count = (size_t)n;
	numbers.data = pd_take(&w->c, (size_t)n * op->width);
	if (w->v && w->v->numbers)
		w->v->numbers(w->ctx, op->field, &numbers);
	return PD_STEP_DONE;
}
