/* expression.c - DWARF expressions: see expression.h. */
#include "unwind/expression.h"

#include <dwarf.h>

/* --- copying --- */

bool ps_expression_knows(uint8_t atom)
{
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return true;
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return true;
	if (atom >= DW_OP_const1u && atom <= DW_OP_rot)
		return atom != DW_OP_xderef;
	if (atom >= DW_OP_abs && atom <= DW_OP_skip)
		return true;
	return atom == DW_OP_deref || atom == DW_OP_bregx || atom == DW_OP_deref_size ||
	       atom == DW_OP_nop || atom == DW_OP_call_frame_cfa || atom == DW_OP_stack_value;
}

/* Returns the index of the operation that a jump leads to; n: the end; n + 1: none. Offsets grow,
 * except that libdw puts DW_OP_call_frame_cfa in front at offset 0. */
static size_t find_target(const Dwarf_Op *ops, size_t n, size_t from)
{
	const uint64_t target = ops[from].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[from].number;

	for (size_t i = 0; i < n; i++)
		if (ops[i].offset == target && ops[i].atom != DW_OP_call_frame_cfa)
			return i;
	/* No operation that may be the last one is shorter than a byte or longer than this. */
	return target > ops[n - 1].offset && target <= ops[n - 1].offset + 20 ? n : n + 1;
}

bool ps_expression_copy(const Dwarf_Op *ops, size_t n, struct ps_op *out, size_t room)
{
	if (n > room)
		return false;
	for (size_t i = 0; i < n; i++) {
		out[i] = (struct ps_op){ ops[i].atom, ops[i].number, ops[i].number2 };
		if (!ps_expression_knows(ops[i].atom))
			return false;
		if (ops[i].atom != DW_OP_bra && ops[i].atom != DW_OP_skip)
			continue;
		out[i].number = find_target(ops, n, i);
		if (out[i].number > n)
			return false;
	}
	return true;
}

/* --- evaluation --- */

struct machine {
	const struct ps_expression_input *in;
	uint64_t stack[PS_EXPRESSION_STACK];
	size_t depth;
	size_t next;		/* operation */
	enum ps_read status;
};

static void set_status(struct machine *m, enum ps_read status)
{
	if (m->status == PS_READ_OK)
		m->status = status;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == PS_EXPRESSION_STACK)
		set_status(m, PS_READ_UNKNOWN);
	else
		m->stack[m->depth++] = m->in->word == 4 ? value & UINT32_MAX : value;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	set_status(m, PS_READ_UNKNOWN);
	return 0;
}

/* Pushes the value at a distance from the top of the stack. */
static void pick(struct machine *m, uint64_t distance)
{
	if (distance < m->depth)
		push(m, m->stack[m->depth - 1 - distance]);
	else
		set_status(m, PS_READ_UNKNOWN);
}

static void push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	uint64_t value = 0;
	const enum ps_read status = number <= UINT8_MAX ?
		m->in->reg(m->in->ctx, (unsigned int)number, &value) : PS_READ_UNKNOWN;

	if (status == PS_READ_OK)
		push(m, value + offset);
	else
		set_status(m, status);
}

static void push_from_memory(struct machine *m, unsigned int width)
{
	uint64_t value = 0;
	const enum ps_read status = m->in->memory(m->in->ctx, pop(m), width, &value);

	if (status == PS_READ_OK)
		push(m, value);
	else
		set_status(m, status);
}

static int64_t as_signed(const struct machine *m, uint64_t v)
{
	return m->in->word == 4 ? (int32_t)(uint32_t)v : (int64_t)v;
}

/* rotates the three values on top: the first becomes the third */
static void rotate(struct machine *m)
{
	const uint64_t first = pop(m), second = pop(m), third = pop(m);

	push(m, first);
	push(m, third);
	push(m, second);
}

static bool run_stack_op(struct machine *m, const struct ps_op *op)
{
	uint64_t v, w;

	switch (op->atom) {
	case DW_OP_dup:
		pick(m, 0);
		return true;
	case DW_OP_drop:
		pop(m);
		return true;
	case DW_OP_over:
		pick(m, 1);
		return true;
	case DW_OP_pick:
		pick(m, op->number);
		return true;
	case DW_OP_swap:
		v = pop(m);
		w = pop(m);
		push(m, v);
		push(m, w);
		return true;
	case DW_OP_rot:
		rotate(m);
		return true;
	default:
		return false;
	}
}

static bool run_unary_op(struct machine *m, const struct ps_op *op)
{
	int64_t v;

	switch (op->atom) {
	case DW_OP_abs:
		v = as_signed(m, pop(m));
		push(m, v < 0 ? -(uint64_t)v : (uint64_t)v);
		return true;
	case DW_OP_neg:
		push(m, -pop(m));
		return true;
	case DW_OP_not:
		push(m, ~pop(m));
		return true;
	case DW_OP_plus_uconst:
		push(m, pop(m) + op->number);
		return true;
	case DW_OP_deref:
		push_from_memory(m, m->in->word);
		return true;
	case DW_OP_deref_size:
		if (op->number == 1 || op->number == 2 || op->number == 4 || op->number == 8)
			push_from_memory(m, (unsigned int)op->number);
		else
			set_status(m, PS_READ_UNKNOWN);
		return true;
	default:
		return false;
	}
}

static uint64_t shift_right_signed(int64_t v, uint64_t by)
{
	if (by > 63)
		by = 63;
	return v < 0 ? ~(~(uint64_t)v >> by) : (uint64_t)v >> by;
}

/* Division by -1 of the smallest number has no result that fits. */
static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (b == -1)
		return -(uint64_t)a;
	if (b)
		return (uint64_t)(a / b);
	set_status(m, PS_READ_UNKNOWN);
	return 0;
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (b)
		return a % b;
	set_status(m, PS_READ_UNKNOWN);
	return 0;
}

static bool compute(struct machine *m, unsigned int atom, uint64_t a, uint64_t b, uint64_t *out)
{
	const int64_t sa = as_signed(m, a), sb = as_signed(m, b);

	switch (atom) {
	case DW_OP_and: *out = a & b; return true;
	case DW_OP_or: *out = a | b; return true;
	case DW_OP_xor: *out = a ^ b; return true;
	case DW_OP_plus: *out = a + b; return true;
	case DW_OP_minus: *out = a - b; return true;
	case DW_OP_mul: *out = a * b; return true;
	case DW_OP_div: *out = divide(m, sa, sb); return true;
	case DW_OP_mod: *out = modulo(m, a, b); return true;
	case DW_OP_shl: *out = b < 64 ? a << b : 0; return true;
	case DW_OP_shr: *out = b < 64 ? a >> b : 0; return true;
	case DW_OP_shra: *out = shift_right_signed(sa, b); return true;
	case DW_OP_eq: *out = sa == sb; return true;
	case DW_OP_ne: *out = sa != sb; return true;
	case DW_OP_ge: *out = sa >= sb; return true;
	case DW_OP_gt: *out = sa > sb; return true;
	case DW_OP_le: *out = sa <= sb; return true;
	case DW_OP_lt: *out = sa < sb; return true;
	default: return false;
	}
}

static bool is_binary(unsigned int atom)
{
	return (atom >= DW_OP_and && atom <= DW_OP_ne && atom != DW_OP_neg && atom != DW_OP_not &&
		atom != DW_OP_plus_uconst && atom != DW_OP_bra);
}

static void run_binary_op(struct machine *m, const struct ps_op *op)
{
	const uint64_t b = pop(m), a = pop(m);
	uint64_t result;

	if (compute(m, op->atom, a, b, &result))
		push(m, result);
	else
		set_status(m, PS_READ_UNKNOWN);
}

/* Constants, registers, jumps. */
static void run_other_op(struct machine *m, const struct ps_op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		push(m, op->atom - DW_OP_lit0);
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		push(m, op->number);
	else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		push_register(m, op->atom - DW_OP_breg0, op->number);
	else if (op->atom == DW_OP_bregx)
		push_register(m, op->number, op->number2);
	else if (op->atom == DW_OP_call_frame_cfa)
		push(m, m->in->cfa);
	else if (op->atom == DW_OP_skip || (op->atom == DW_OP_bra && pop(m)))
		m->next = op->number;
	else if (op->atom != DW_OP_bra && op->atom != DW_OP_nop && op->atom != DW_OP_stack_value)
		set_status(m, PS_READ_UNKNOWN);
}

enum ps_read ps_expression_run(const struct ps_op *ops, size_t n,
			       const struct ps_expression_input *in, uint64_t *out)
{
	struct machine m = { .in = in };

	for (unsigned int step = 0; m.next < n && m.status == PS_READ_OK; step++) {
		const struct ps_op *op = &ops[m.next++];

		if (step == PS_MAX_STEPS)
			set_status(&m, PS_READ_UNKNOWN);
		else if (is_binary(op->atom))
			run_binary_op(&m, op);
		else if (!run_stack_op(&m, op) && !run_unary_op(&m, op))
			run_other_op(&m, op);
	}
	*out = pop(&m);
	return m.status;
}
