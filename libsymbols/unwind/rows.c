/* rows.c - rows that travel: see rows.h. */
#include "unwind/rows.h"

#include <dwarf.h>
#include <string.h>

/* --- writing --- */

struct encoder {
	uint8_t *at;
	size_t left;
	bool failed;
};

static void put_number(struct encoder *e, uint64_t v, unsigned int width)
{
	if (e->left < width) {
		e->failed = true;
		return;
	}
	for (unsigned int i = 0; i < width; i++)
		*e->at++ = (uint8_t)(v >> 8 * i);
	e->left -= width;
}

static void put_offset(struct encoder *e, int64_t offset)
{
	if (offset != (int32_t)offset)
		e->failed = true;
	put_number(e, (uint64_t)offset, 4);
}

static void put_location(struct encoder *e, const struct ps_row *row, const struct ps_location *l)
{
	put_number(e, l->where, 1);
	switch (l->where) {
	case PS_AT_CFA:
	case PS_IS_CFA:
		put_offset(e, l->offset);
		break;
	case PS_IN_REGISTER:
		put_number(e, l->reg, 1);
		put_offset(e, l->offset);
		break;
	case PS_AT_EXPRESSION:
	case PS_IS_EXPRESSION:
		if (l->count > UINT8_MAX)
			e->failed = true;
		put_number(e, l->count, 1);
		for (unsigned int i = 0; i < l->count; i++) {
			const struct ps_op *op = &row->ops[l->first + i];

			put_number(e, op->atom, 1);
			put_number(e, op->number, 8);
			put_number(e, op->number2, 8);
		}
		break;
	default:
		break;
	}
}

/* The location of a register that CFI does not mention. */
static uint8_t usual_of(const struct ps_arch *arch, unsigned int reg)
{
	return arch->preserved >> reg & 1 ? PS_AT_SAME : PS_AT_NOWHERE;
}

size_t ps_row_encode(const struct ps_row *row, enum ps_end end, const struct ps_arch *arch,
		     uint8_t out[PS_ROW_BYTES_MAX])
{
	struct encoder e = { out, PS_ROW_BYTES_MAX, false };

	if (end != PS_END_NONE) {
		put_number(&e, end == PS_END_NO_CFI ? PS_ROW_NO_CFI : PS_ROW_BAD_CFI, 1);
		return 1;
	}
	put_number(&e, row->signal ? PS_ROW_OF_SIGNAL :
		   row->of_code ? PS_ROW_OF_CODE : PS_ROW_OF_CALL, 1);
	put_location(&e, row, &row->cfa);
	for (unsigned int reg = 0; reg < arch->nr_registers; reg++) {
		if (row->at[reg].where == usual_of(arch, reg))
			continue;
		put_number(&e, reg, 1);
		put_location(&e, row, &row->at[reg]);
	}
	return e.failed ? 0 : PS_ROW_BYTES_MAX - e.left;
}

/* --- reading --- */

static bool take_offset(struct pd_cursor *c, int64_t *out)
{
	uint64_t v;

	if (!pd_take_number(c, 4, &v))
		return false;
	*out = (int32_t)(uint32_t)v;
	return true;
}

/* Jumps lead to an operation of the same expression, or to its end. */
static bool take_expression(struct pd_cursor *c, struct ps_row *row, struct ps_location *l)
{
	uint64_t count, atom;

	if (!pd_take_number(c, 1, &count) || count > (size_t)PS_MAX_OPS - row->nr_ops)
		return false;
	l->first = row->nr_ops;
	l->count = (uint16_t)count;
	for (size_t i = 0; i < count; i++) {
		struct ps_op *op = &row->ops[row->nr_ops++];

		if (!pd_take_number(c, 1, &atom) || !pd_take_number(c, 8, &op->number) ||
		    !pd_take_number(c, 8, &op->number2) || !ps_expression_knows((uint8_t)atom) ||
		    ((atom == DW_OP_bra || atom == DW_OP_skip) && op->number > count))
			return false;
		op->atom = (uint8_t)atom;
	}
	return true;
}

static bool take_location(struct pd_cursor *c, struct ps_row *row, struct ps_location *l)
{
	uint64_t where, reg;

	if (!pd_take_number(c, 1, &where))
		return false;
	*l = (struct ps_location){ .where = (uint8_t)where };
	switch (where) {
	case PS_AT_NOWHERE:
	case PS_AT_SAME:
		return true;
	case PS_AT_CFA:
	case PS_IS_CFA:
		return take_offset(c, &l->offset);
	case PS_IN_REGISTER:
		if (!pd_take_number(c, 1, &reg) || reg >= PS_MAX_REGISTERS)
			return false;
		l->reg = (uint8_t)reg;
		return take_offset(c, &l->offset);
	case PS_AT_EXPRESSION:
	case PS_IS_EXPRESSION:
		return take_expression(c, row, l);
	default:
		return false;
	}
}

static bool take_row(struct pd_cursor *c, const struct ps_arch *arch, struct ps_row *row)
{
	uint64_t reg;

	row->nr_ops = 0;
	if (!take_location(c, row, &row->cfa) ||
	    (row->cfa.where != PS_IN_REGISTER && row->cfa.where != PS_IS_EXPRESSION))
		return false;
	for (unsigned int i = 0; i < arch->nr_registers; i++)
		row->at[i] = (struct ps_location){ .where = usual_of(arch, i) };
	while (pd_left(c))
		if (!pd_take_number(c, 1, &reg) || reg >= arch->nr_registers ||
		    !take_location(c, row, &row->at[reg]))
			return false;
	return true;
}

enum ps_end ps_row_decode(struct pd_bytes bytes, const struct ps_arch *arch, struct ps_row *out)
{
	const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct pd_cursor c = pd_cursor(bytes, is_big ? PD_SWAP_YES : PD_SWAP_NO);
	uint64_t kind;

	if (!pd_take_number(&c, 1, &kind))
		return PS_END_BAD_CFI;
	if (kind == PS_ROW_NO_CFI)
		return PS_END_NO_CFI;
	out->signal = kind == PS_ROW_OF_SIGNAL;
	out->of_code = kind == PS_ROW_OF_CODE;
	return (kind <= PS_ROW_OF_SIGNAL || out->of_code) && take_row(&c, arch, out) ?
		       PS_END_NONE : PS_END_BAD_CFI;
}

bool ps_given_row_find(const struct ps_given_rows *given, uint64_t address, struct pd_bytes *out)
{
	size_t low = 0, n = given->nr;

	while (n) {
		const size_t half = n / 2;

		if (given->addresses[low + half] < address) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	if (low == given->nr || given->addresses[low] != address)
		return false;
	*out = given->items[given->rows[low]];
	return true;
}
