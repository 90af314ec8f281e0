/* expression.h - DWARF expressions of call frame information, and their bounded evaluation. */
#ifndef PS_UNWIND_EXPRESSION_H
#define PS_UNWIND_EXPRESSION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS_MAX_OPS 256		/* of all expressions of a row */
#define PS_MAX_STEPS 256
#define PS_EXPRESSION_STACK 64

/* An operation. `number` of a jump is the index of the operation it leads to. */
struct ps_op {
	uint8_t atom;		/* DW_OP_* */
	uint64_t number, number2;
};

/* Returns whether ps_expression_run() knows the operation: others are no part of a row. */
bool ps_expression_knows(uint8_t atom);

/* Copies libdw's operations to `out`, which has room for `room`. Returns false if there are too
 * many, or one that no frame needs (addresses, locations of other kinds). */
bool ps_expression_copy(const Dwarf_Op *ops, size_t n, struct ps_op *out, size_t room);

enum ps_read { PS_READ_OK, PS_READ_UNKNOWN, PS_READ_CUT, PS_READ_OTHER };

/* State that an expression may read. The functions report whether they found the value. */
struct ps_expression_input {
	enum ps_read (*reg)(const void *ctx, unsigned int number, uint64_t *out);
	enum ps_read (*memory)(const void *ctx, uint64_t address, unsigned int width,
			       uint64_t *out);
	const void *ctx;
	uint64_t cfa;
	unsigned int word;	/* bytes of an address */
};

/* Sets *out to the value on top of the stack. PS_READ_UNKNOWN: the expression is wrong, takes too
 * long, or needs a register that is unknown. */
enum ps_read ps_expression_run(const struct ps_op *ops, size_t n,
			       const struct ps_expression_input *in, uint64_t *out);

#endif
