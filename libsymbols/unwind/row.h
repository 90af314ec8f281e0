/* row.h - a row of call frame information: where the caller's registers are. */
#ifndef PS_UNWIND_ROW_H
#define PS_UNWIND_ROW_H

#include "unwind/arch.h"
#include "unwind/expression.h"

/* A register that has no value in any frame. */
#define PS_UNKNOWN_REGISTER (PS_MAX_REGISTERS - 1)

enum ps_where {
	PS_AT_NOWHERE,		/* undefined: the value is lost */
	PS_AT_SAME,		/* unchanged */
	PS_AT_CFA,		/* in memory at CFA + offset */
	PS_IS_CFA,		/* CFA + offset */
	PS_IN_REGISTER,		/* in a register; for the CFA itself, plus offset */
	PS_AT_EXPRESSION,	/* in memory where the expression says */
	PS_IS_EXPRESSION,
};

struct ps_location {
	uint8_t where;		/* enum ps_where */
	uint8_t reg;
	uint16_t first, count;	/* operations of an expression */
	int64_t offset;
};

struct ps_row {
	uint64_t start, end;	/* addresses that the row is for */
	struct ps_location cfa;
	struct ps_location at[PS_MAX_REGISTERS];
	uint16_t nr_ops;
	bool signal;		/* the caller was interrupted */
	bool of_code;		/* by what instructions do, without CFI: it may be wrong */
	struct ps_op ops[PS_MAX_OPS];
};

/* Bytes of a row without the unused operations. */
static inline size_t ps_row_size(const struct ps_row *row)
{
	return offsetof(struct ps_row, ops) + row->nr_ops * sizeof(row->ops[0]);
}

/* Converts what libdw found. Returns false if the frame can't be unwound by it. */
bool ps_row_read(Dwarf_Frame *frame, const struct ps_arch *arch, struct ps_row *out);

/* Returns whether the row places a register's saved value below the stack pointer. */
bool ps_row_saves_below_sp(const struct ps_row *row, const struct ps_arch *arch, unsigned int reg);

#endif
