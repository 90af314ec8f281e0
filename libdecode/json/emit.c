/* emit.c - compiles and runs emit programs: see emit.h. */
#include "json/json.h"

#define NUMBER_MAX 24	/* bytes of a number or an address */
#define HALF_STEP ((size_t)PD_EMIT_STEP / 2)

void pd_emit_begin(struct pd_emit *p, const struct pd_emit_key *key)
{
	p->key = *key;
	p->nr_slots = p->size = p->head = p->max = p->nr_fields = 0;
	p->cost = 0;
	p->is_unusable = p->is_whole = false;
}

void pd_emit_add_text(struct pd_emit *p, const char *text, size_t n)
{
	uint16_t *literal = p->nr_slots ? &p->slots[p->nr_slots - 1].literal : &p->head;

	if (n && *text == ',' && *literal && p->text[p->size - 1] == '{') {
		text++;
		n--;
	}
	if (n > PD_EMIT_TEXT - p->size) {
		p->is_unusable = true;
		return;
	}
	memcpy(p->text + p->size, text, n);
	p->size += (uint32_t)n;
	*literal += (uint16_t)n;
}

static void add_slot(struct pd_emit *p, struct pd_emit_slot slot, size_t max)
{
	if (p->nr_slots == PD_EMIT_SLOTS) {
		p->is_unusable = true;
		return;
	}
	p->slots[p->nr_slots++] = slot;
	p->max += (uint32_t)max;
}

void pd_emit_add_number(struct pd_emit *p, int32_t offset, unsigned int width, enum pd_show show)
{
	const bool is_signed = show == PD_SIGNED;
	const enum pd_emit_how how = show == PD_HEX ? PD_EMIT_ADDRESS :
				     width == 4 ? (is_signed ? PD_EMIT_SIGNED4 : PD_EMIT_NUMBER4) :
				     is_signed ? PD_EMIT_SIGNED :
				     width == 8 ? PD_EMIT_NUMBER8 :
				     width == 2 ? PD_EMIT_NUMBER2 : PD_EMIT_OTHER;

	add_slot(p, (struct pd_emit_slot){ .offset = offset, .width = (uint8_t)width, .how = how },
		 NUMBER_MAX);
}

/* Returns the bytes of a table's longest name, with quotes. */
static size_t longest_name(const struct pd_name *names)
{
	size_t max = NUMBER_MAX;

	for (; names && names->name; names++)
		if (strlen(names->name) > max)
			max = strlen(names->name);
	return max + 2;
}

/* Returns the bytes of all names of a table, with quotes and commas. */
static size_t size_of_names(const struct pd_name *names)
{
	size_t sum = 2;

	for (; names && names->name; names++)
		sum += strlen(names->name) + 3;
	return sum;
}

/* Returns the maximum bytes of a row, with its keys. */
static size_t max_row_size(const struct pd_field *f)
{
	size_t sum = 2 * ((size_t)f->key_size + 8 * NUMBER_MAX) + longest_name(f->names);

	if (f->show == PD_FLAGS)
		sum += size_of_names(f->names);
	for (const struct pd_bits *b = f->bits; b && b->name; b++)
		sum += b->key_size + longest_name(b->names) +
		       (b->show == PD_BIT_LIST ? size_of_names(b->names) : 2);
	return sum;
}

static bool is_number(const struct pd_field *f, unsigned int width)
{
	return f->key_size && !f->msb_first &&
	       (f->show == PD_DEC || f->show == PD_SIGNED || (f->show == PD_HEX && width == 8));
}

static void add_number_row(struct pd_emit *p, const struct pd_json *j, const struct pd_op *op)
{
	const struct pd_field *f = op->field;
	const int32_t offset = (int32_t)op->offset;

	pd_emit_add_text(p, f->key, f->key_size);
	pd_emit_add_number(p, offset, op->width, (enum pd_show)f->show);
	if (pd_json_has_utc(j, f))
		add_slot(p, (struct pd_emit_slot){ .offset = offset, .how = PD_EMIT_UTC },
			 PD_JSON_UTC_SIZE);
}

void pd_emit_add_ops(struct pd_emit *p, const struct pd_json *j, const struct pd_op *ops, size_t n)
{
	for (const struct pd_op *op = ops, *end = op + n; op < end; op++) {
		const struct pd_field *f = op->field;

		if (op->kind == PD_PAD || f->show == PD_HIDDEN)
			continue;
		/* The name may be long, and is another one in the next record. */
		p->is_unusable |= f->names_event;
		if (is_number(f, op->width)) {
			add_number_row(p, j, op);
		} else {
			const struct pd_emit_slot slot = {
				.offset = (int32_t)op->offset, .op = op, .how = PD_EMIT_VISIT };

			add_slot(p, slot, max_row_size(f));
		}
	}
}

void pd_emit_end(struct pd_emit *p)
{
	if (!p->head || p->size + p->max + PD_EMIT_STEP + PD_EMIT_AROUND > PD_JSONW_SLACK)
		p->is_unusable = true;
}

static INLINE void put_step(char *at, const char *text)
{
	pd_bytes16 step;

	memcpy(&step, text, sizeof(step));
	memcpy(at, &step, sizeof(step));
}

/* Most literals are shorter than half a step. */
static INLINE char *put_literal(char *at, const char *text, size_t n)
{
	put_step(at, text);
	for (size_t i = HALF_STEP; __builtin_expect(i < n, 0); i += PD_EMIT_STEP) {
		put_step(at + i, text + i);
		put_step(at + i + HALF_STEP, text + i + HALF_STEP);
	}
	return at + n;
}

static COLD char *put_other(struct pd_json *j, const struct pd_emit_slot *s, char *at,
			    const uint8_t *data, enum pd_swap swap)
{
	uint64_t v;

	if (s->how == PD_EMIT_VISIT) {
		j->w.at = at;
		pd_json_visitor.number(j, s->op->field,
				       pd_op_shown(s->op, data - s->op->offset, swap));
		return j->w.at;
	}
	if (s->how == PD_EMIT_UTC) {
		j->w.at = at;
		pd_json_utc(j, pd_load64(data, swap));
		return j->w.at;
	}
	v = pd_load(data, s->width, swap);
	if (s->how == PD_EMIT_SIGNED) {
		v = pd_sign_extend(v, s->width);
		if ((int64_t)v < 0) {
			*at++ = '-';
			v = -v;
		}
	}
	return pd_write_decimal(at, v);
}

/* Most numbers of 4 bytes, and all sizes, have few digits. */
static INLINE char *put_small(char *at, uint32_t v)
{
	if (v < 10) {
		*at = (char)('0' + v);
		return at + 1;
	}
	return v < 10000 ? pd_write_decimal4(at, v) : pd_write_decimal(at, v);
}

static INLINE char *put_signed4(char *at, uint32_t v)
{
	if ((int32_t)v < 0) {
		*at++ = '-';
		v = -v;
	}
	return put_small(at, v);
}

static INLINE char *put_slot(struct pd_json *j, const struct pd_emit_slot *s, char *at,
			     const uint8_t *data, enum pd_swap swap)
{
	switch ((enum pd_emit_how)s->how) {
	case PD_EMIT_NUMBER2:
		return put_small(at, pd_load16(data, swap));
	case PD_EMIT_NUMBER4:
		return put_small(at, pd_load32(data, swap));
	case PD_EMIT_SIGNED4:
		return put_signed4(at, pd_load32(data, swap));
	case PD_EMIT_NUMBER8:
		return pd_write_decimal(at, pd_load64(data, swap));
	case PD_EMIT_ADDRESS:
		return pd_write_address(at, pd_load64(data, swap));
	default:
		return put_other(j, s, at, data, swap);
	}
}

static INLINE char *put_program(struct pd_json *j, const struct pd_emit *p, size_t skip, char *at,
				const uint8_t *start, enum pd_swap swap)
{
	const char *text = p->text + p->head;

	at = put_literal(at, p->text + skip, p->head - skip);
	for (const struct pd_emit_slot *s = p->slots, *end = s + p->nr_slots; s < end; s++) {
		at = put_slot(j, s, at, start + s->offset, swap);
		at = put_literal(at, text, s->literal);
		text += s->literal;
	}
	return at;
}

char *pd_emit_put(struct pd_json *j, const struct pd_emit *p, size_t skip, char *at,
		  const uint8_t *start, enum pd_swap swap)
{
	return swap == PD_SWAP_NO ? put_program(j, p, skip, at, start, PD_SWAP_NO) :
				    put_program(j, p, skip, at, start, PD_SWAP_YES);
}

static int reject_flush(void *ctx, const void *p, size_t n)
{
	(void)ctx;
	(void)p;
	(void)n;
	return -1;
}

void pd_emit_scratch_init(struct pd_emit_scratch *s)
{
	s->text[0] = ' ';	/* no bracket: keys keep their commas */
	s->w = (struct pd_jsonw){
		.at = s->text + 1, .buffer = s->text + 1, .end = s->text + 1 + PD_JSONW_SLACK,
		.out = { reject_flush, NULL } };
}

void pd_emit_add_scratch(struct pd_emit *p, struct pd_emit_scratch *s)
{
	pd_emit_add_text(p, s->w.buffer, (size_t)(s->w.at - s->w.buffer));
	if (s->w.failed)
		p->is_unusable = true;
	s->text[0] = s->w.at[-1];
	s->w.at = s->w.buffer;
}
