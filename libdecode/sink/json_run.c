/* json_run.c - numbers in a row as JSON: what a row needs is looked up once, a value that comes again is copied. */
#include "sink/json.h"

#define HUNDRED_MILLION 100000000

_Static_assert(PD_JSONW_KEY_ROOM + 24 <= 2 * PD_JSON_STEP, "a key and a number take two steps of copying");
_Static_assert(PD_JSON_STEPS * PD_JSON_STEP_TEXT <= PD_JSONW_SLACK, "a run fits");
_Static_assert(PD_JSON_TP_STEPS * PD_JSON_STEP_TEXT <= PD_JSONW_SLACK, "so does a tracepoint's");

static void render(struct pd_json_step *s, uint64_t v)
{
	const bool is_negative = s->is_signed && (int64_t)pd_sign_extend(v, s->width) < 0;
	char *at = s->text + s->key_size;

	s->value = v;
	s->high = s->is_signed ? 0 : v / HUNDRED_MILLION;
	*at = '-';
	at = pd_write_decimal(at + is_negative, is_negative ? -pd_sign_extend(v, s->width) : v);
	*at = ']';
	s->size = (uint8_t)(at + s->closes - s->text);
}

/* Most numbers that are not the same as before are times: all but their last digits are the same. */
static inline void update(struct pd_json_step *s, uint64_t v)
{
	if (!s->high || v / HUNDRED_MILLION != s->high) {
		render(s, v);
		return;
	}
	s->value = v;
	pd_store_digits(s->text + s->size - 8 - s->closes,
			pd_eight_digits((uint32_t)(v - s->high * HUNDRED_MILLION)) | PD_ZEROS);
}

bool pd_json_make_step(struct pd_json_step *s, struct pd_bytes key, uint32_t offset, unsigned int width,
		       enum pd_show show)
{
	if (!key.size || key.size > PD_JSONW_KEY_ROOM || (show != PD_DEC && show != PD_SIGNED && show != PD_HEX) ||
	    (show == PD_HEX && width != 8))
		return false;
	*s = (struct pd_json_step){ .offset = offset, .key_size = (uint8_t)key.size, .width = (uint8_t)width,
		.is_signed = show == PD_SIGNED };
	s->how = show == PD_HEX ? PD_JSON_ADDRESS : width == 8 ? PD_JSON_NUMBER8 : width == 4 ? PD_JSON_NUMBER4 :
		 PD_JSON_SMALL;
	memcpy(s->text, key.data, key.size);
	render(s, 0);
	return true;
}

void pd_json_close_step(struct pd_json_step *s)
{
	s->closes = true;
	render(s, 0);
}

static bool add_step(struct pd_json_run *run, const struct pd_op *op)
{
	struct pd_json_step *s = &run->steps[run->nr_steps];
	const struct pd_field *f = op->field;
	struct pd_bytes key;

	if (op->kind == PD_PAD || f->show == PD_HIDDEN)
		return true;
	if (run->nr_steps == PD_JSON_STEPS)
		return false;
	run->nr_steps++;
	key = (struct pd_bytes){ (const uint8_t *)f->key, f->key_size };
	if (!f->msb_first && pd_json_make_step(s, key, op->offset, op->width, (enum pd_show)f->show))
		return true;
	*s = (struct pd_json_step){ .how = PD_JSON_OTHER, .op = op };
	run->plain = false;
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
		if (!add_step(run, &ops[i])) {
			run->ops = NULL;
			return NULL;
		}
	return run;
}

/* Names and flags: they take the longest, and hardly ever change. */
static char *put_other(struct pd_json *j, struct pd_json_step *s, char *at, const uint8_t *start, enum pd_swap swap)
{
	const uint64_t v = pd_op_shown(s->op, start, swap), begun = j->w.flushed;
	size_t size;

	if (s->size && s->value == v) {
		for (size_t i = 0; i < s->size; i += PD_JSON_STEP)
			memcpy(at + i, s->text + i, PD_JSON_STEP);
		return at + s->size;
	}
	j->w.at = at;
	pd_json_visitor.number(j, s->op->field, v);
	size = (size_t)(j->w.at - at);
	s->size = 0;
	if (j->w.flushed == begun && size <= sizeof(s->text)) {
		s->size = (uint8_t)size;
		s->value = v;
		memcpy(s->text, at, size);
	}
	pd_jsonw_room(&j->w);
	return j->w.at;
}

/* Key and value, and what lies behind them. */
static inline char *put_text(char *at, const struct pd_json_step *s)
{
	memcpy(at, s->text, PD_JSON_STEP);
	if (s->size > PD_JSON_STEP)
		memcpy(at + PD_JSON_STEP, s->text + PD_JSON_STEP, PD_JSON_STEP);
	return at + s->size;
}

char *pd_json_put_steps(struct pd_json *j, struct pd_json_step *s, size_t n, char *at, const uint8_t *start,
			enum pd_swap swap)
{
	char *const brace = at[-1] == '{' ? --at : NULL;	/* no comma behind it: it takes the comma's place */

	for (const struct pd_json_step *end = s + n; s < end; s++) {
		const uint8_t *p = start + s->offset;
		uint64_t v;

		if (s->how == PD_JSON_NUMBER4) {
			v = pd_load32(p, swap);
		} else if (s->how == PD_JSON_NUMBER8) {
			v = pd_load64(p, swap);
		} else if (s->how == PD_JSON_ADDRESS) {
			memcpy(at, s->text, PD_JSONW_KEY_ROOM);
			at = pd_write_address(at + s->key_size, pd_load64(p, swap));
			*at = ']';
			at += s->closes;
			continue;
		} else if (s->how == PD_JSON_SMALL) {
			v = s->width == 1 ? *p : pd_load16(p, swap);
		} else {
			at = put_other(j, s, at, start, swap);
			continue;
		}
		if (v != s->value)
			update(s, v);
		at = put_text(at, s);
	}
	if (brace)
		*brace = '{';
	return at;
}

/* One by one. */
static void put_slowly(struct pd_json *j, const struct pd_op *op, const struct pd_op *end, const uint8_t *start,
		       enum pd_swap swap)
{
	for (; op < end; op++)
		if (op->kind != PD_PAD && op->field->show != PD_HIDDEN)
			pd_json_visitor.number(j, op->field, pd_op_shown(op, start, swap));
}

void pd_json_run(void *ctx, const struct pd_op *ops, size_t n, const uint8_t *start, enum pd_swap swap)
{
	struct pd_json *j = ctx;
	struct pd_json_run *run = run_of(j, ops, n, swap);

	pd_jsonw_room(&j->w);
	if (!run || !run->nr_steps || (j->w.at[-1] == '{' && !run->plain))
		put_slowly(j, ops, ops + n, start, swap);
	else
		j->w.at = pd_json_put_steps(j, run->steps, run->nr_steps, j->w.at, start, swap);
}
