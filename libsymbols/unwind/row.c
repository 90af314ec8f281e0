/* row.c - rows of call frame information: see row.h. */
#include "unwind/row.h"

#include <dwarf.h>

/* Copies an expression to the row. */
static bool add_expression(struct ps_row *row, const Dwarf_Op *ops, size_t n,
			   struct ps_location *out)
{
	const size_t room = PS_MAX_OPS - row->nr_ops;

	if (!ps_expression_copy(ops, n, row->ops + row->nr_ops, room))
		return false;
	out->first = row->nr_ops;
	out->count = (uint16_t)n;
	row->nr_ops = (uint16_t)(row->nr_ops + n);
	return true;
}

/* Reads "CFA", "CFA + offset" and the same as values. */
static bool read_cfa_offset(const Dwarf_Op *ops, size_t n, struct ps_location *out)
{
	size_t next = 1;

	if (ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	*out = (struct ps_location){ .where = PS_AT_CFA };
	if (next < n && ops[next].atom == DW_OP_plus_uconst)
		out->offset = (int64_t)ops[next++].number;
	if (next < n && ops[next].atom == DW_OP_stack_value) {
		out->where = PS_IS_CFA;
		next++;
	}
	return next == n;
}

/* A location that can't be read counts as nowhere: it matters only if the register is needed.
 *
 * A register that a call preserves and that CFI does not mention is unchanged; libdw (0.188) takes
 * rax for it on x86-64, not rbx. That CFI may state one as undefined is not distinguished. */
static void read_location(Dwarf_Frame *frame, const struct ps_arch *arch, unsigned int reg,
			  struct ps_row *row)
{
	const bool preserved = arch->preserved >> reg & 1;
	struct ps_location *out = &row->at[reg];
	Dwarf_Op memory[3], *ops;
	size_t n;

	*out = (struct ps_location){ .where = PS_AT_NOWHERE };
	if (dwarf_frame_register(frame, (int)reg, memory, &ops, &n))
		return;
	if (!n) {
		out->where = ops && !preserved ? PS_AT_NOWHERE : PS_AT_SAME;
		return;
	}
	if (n == 1 && ops[0].atom == DW_OP_regx && ops[0].number < PS_MAX_REGISTERS) {
		*out = (struct ps_location){ .where = PS_IN_REGISTER,
					     .reg = (uint8_t)ops[0].number };
		return;
	}
	if (read_cfa_offset(ops, n, out))
		return;
	*out = (struct ps_location){ .where = PS_AT_NOWHERE };
	if (add_expression(row, ops, n, out))
		out->where = ops[n - 1].atom == DW_OP_stack_value ? PS_IS_EXPRESSION :
								    PS_AT_EXPRESSION;
}

static bool read_cfa(Dwarf_Frame *frame, struct ps_row *row)
{
	uint64_t reg = PS_MAX_REGISTERS, offset = 0;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return false;
	if (n == 1 && ops[0].atom == DW_OP_bregx) {
		reg = ops[0].number;
		offset = ops[0].number2;
	} else if (n == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		reg = ops[0].atom - DW_OP_breg0;
		offset = ops[0].number;
	}
	if (reg < PS_MAX_REGISTERS) {
		row->cfa = (struct ps_location){ .where = PS_IN_REGISTER, .reg = (uint8_t)reg,
						 .offset = (int64_t)offset };
		return true;
	}
	row->cfa = (struct ps_location){ .where = PS_IS_EXPRESSION };
	return add_expression(row, ops, n, &row->cfa);
}

/* Some functions written in assembly are called by another link register than the usual one. */
static void move_return_address(const struct ps_arch *arch, unsigned int ra, struct ps_row *row)
{
	const struct ps_location *at = &row->at[ra];

	if (ra == arch->ra)
		return;
	row->at[arch->ra] = at->where == PS_AT_SAME || at->where == PS_AT_NOWHERE ?
		(struct ps_location){ .where = PS_IN_REGISTER, .reg = (uint8_t)ra } : *at;
}

bool ps_row_read(Dwarf_Frame *frame, const struct ps_arch *arch, struct ps_row *out)
{
	Dwarf_Addr start, end;
	bool signal = false;
	int ra;

	out->nr_ops = 0;
	ra = dwarf_frame_info(frame, &start, &end, &signal);
	if (ra < 0 || ra >= arch->nr_registers || !read_cfa(frame, out))
		return false;
	out->start = start;
	out->end = end;
	out->signal = signal;
	out->of_code = false;
	for (unsigned int reg = 0; reg < arch->nr_registers; reg++)
		read_location(frame, arch, reg, out);
	move_return_address(arch, (unsigned int)ra, out);
	return true;
}

bool ps_row_saves_below_sp(const struct ps_row *row, const struct ps_arch *arch, unsigned int reg)
{
	return row->cfa.where == PS_IN_REGISTER && row->cfa.reg == arch->sp &&
	       row->at[reg].where == PS_AT_CFA && row->cfa.offset + row->at[reg].offset < 0;
}
