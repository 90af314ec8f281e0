/* json_run.c - numbers in a row, as JSON: what a row needs is looked up once, and a value that comes again is copied. */
#include "sink/json.h"

#define HUNDRED_MILLION 100000000

_Static_assert(PD_JSONW_KEY_ROOM + 24 <= 2 * PD_JSON_STEP, "a key and a number fit into a step's text");
_Static_assert(PD_JSON_STEPS * 2 * PD_JSON_STEP <= PD_JSONW_SLACK, "a run fits");

/* Nothing but the key and a number. */
static bool is_plain(const struct pd_field *f)
{
	return (f->show == PD_DEC || f->show == PD_SIGNED || f->show == PD_HEX) && f->key_size &&
	       f->key_size <= PD_JSONW_KEY_ROOM && !f->msb_first;
}

/* Most numbers that are not the same as before are times: all but their last digits are the same. */
static void render(struct pd_json_step *s, uint64_t v)
{
	const bool is_signed = s->op->field->show == PD_SIGNED;
	const uint64_t high = is_signed ? 0 : v / HUNDRED_MILLION;
	char *at = s->text + s->key_size;

	s->value = v;
	if (high && high == s->high) {
		pd_store_digits(s->text + s->size - 8, pd_eight_digits((uint32_t)(v - high * HUNDRED_MILLION)) | PD_ZEROS);
		return;
	}
	s->high = high;
	if (is_signed && (int64_t)pd_sign_extend(v, s->op->width) < 0) {
		*at++ = '-';
		v = -pd_sign_extend(v, s->op->width);
	}
	s->size = (uint8_t)(pd_write_decimal(at, v) - s->text);
}

static bool make_step(struct pd_json_run *run, const struct pd_op *op)
{
	struct pd_json_step *s = &run->steps[run->nr_steps];
	const struct pd_field *f = op->field;

	if (op->kind == PD_PAD || f->show == PD_HIDDEN)
		return true;
	if (run->nr_steps == PD_JSON_STEPS)
		return false;
	run->nr_steps++;
	*s = (struct pd_json_step){ .op = op, .offset = op->offset, .key_size = f->key_size, .how = PD_JSON_OTHER };
	if (!is_plain(f) || op->width < 4 || (f->show == PD_HEX && op->width != 8)) {
		run->plain = false;
		return true;
	}
	s->how = f->show == PD_HEX ? PD_JSON_ADDRESS : op->width == 8 ? PD_JSON_NUMBER8 : PD_JSON_NUMBER4;
	memcpy(s->text, f->key, f->key_size);
	render(s, 0);
	return true;
}

/* The steps of a run, or NULL: too many. */
static struct pd_json_run *run_of(struct pd_json *j, const struct pd_op *ops, size_t n, enum pd_swap swap)
{
	struct pd_json_run *run = &j->runs[((uintptr_t)ops >> 6 ^ (uintptr_t)ops >> 12) % PD_JSON_RUNS];
	const unsigned int arch_changes = j->session->arch_changes;

	if (run->ops == ops && run->nr_ops == n && run->arch_changes == arch_changes && run->swap == swap)
		return run;
	run->ops = ops;
	run->nr_ops = (unsigned int)n;
	run->arch_changes = arch_changes;
	run->swap = swap;
	run->nr_steps = 0;
	run->plain = true;
	for (size_t i = 0; i < n; i++)
		if (!make_step(run, &ops[i])) {
			run->ops = NULL;
			return NULL;
		}
	return run;
}

/* Key and value, and what lies behind them. */
static inline char *put_text(char *at, const struct pd_json_step *s)
{
	memcpy(at, s->text, PD_JSON_STEP);
	if (s->size > PD_JSON_STEP)
		memcpy(at + PD_JSON_STEP, s->text + PD_JSON_STEP, PD_JSON_STEP);
	return at + s->size;
}

/* One by one. */
static void put_slowly(struct pd_json *j, const struct pd_op *op, const struct pd_op *end, const uint8_t *start,
		       enum pd_swap swap)
{
	for (; op < end; op++)
		if (op->kind != PD_PAD && op->field->show != PD_HIDDEN)
			pd_json_visitor.number(j, op->field, pd_op_shown(op, start, swap));
}

/* Steps from `at` on; the end. */
static char *put_steps(struct pd_json *j, struct pd_json_run *run, char *at, const uint8_t *start)
{
	const enum pd_swap swap = run->swap;

	for (struct pd_json_step *s = run->steps, *end = s + run->nr_steps; s < end; s++) {
		const uint8_t *p = start + s->offset;
		uint64_t v;

		switch (s->how) {
		case PD_JSON_NUMBER4:
			v = pd_load32(p, swap);
			break;
		case PD_JSON_NUMBER8:
			v = pd_load64(p, swap);
			break;
		case PD_JSON_ADDRESS:
			memcpy(at, s->text, PD_JSONW_KEY_ROOM);
			at = pd_write_address(at + s->key_size, pd_load64(p, swap));
			continue;
		default:
			j->w.at = at;
			pd_json_visitor.number(j, s->op->field, pd_op_shown(s->op, start, swap));
			pd_jsonw_room(&j->w);
			at = j->w.at;
			continue;
		}
		if (v != s->value)
			render(s, v);
		at = put_text(at, s);
	}
	return at;
}

void pd_json_run(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap)
{
	struct pd_json *j = ctx;
	struct pd_json_run *run = run_of(j, ops, n, swap);
	const bool first = j->w.at[-1] == '{';
	char *at;

	if (!run || !run->nr_steps || (first && !run->plain)) {
		put_slowly(j, ops, ops + n, start, swap);
		return;
	}
	pd_jsonw_room(&j->w);
	at = j->w.at - first;
	j->w.at = put_steps(j, run, at, start);
	if (first)	/* where the comma came to stand */
		*at = '{';
}
