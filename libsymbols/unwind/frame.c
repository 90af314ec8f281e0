/* frame.c - the step from a frame to its caller: see frame.h. */
#include "unwind/frame.h"

#define BIT(n) (1ull << (n))
#define LONGEST_CALL 9		/* bytes of a call instruction */
#define FAR (16u << 20)		/* further up than this is no longer the same stack */

/* --- reading --- */

/* Tells why bytes that were not copied are missing. */
static enum ps_read explain_missing(const struct ps_frame_state *f, uint64_t address)
{
	const struct ps_copied_stack *in = f->in;

	return address >= f->base && in->bytes.size >= in->size &&
	       address - f->base < in->bytes.size + (uint64_t)FAR ? PS_READ_CUT : PS_READ_OTHER;
}

static enum ps_read read_stack_word(const struct ps_frame_state *f, uint64_t address,
				    unsigned int width, uint64_t *out)
{
	const struct pd_bytes bytes = f->in->bytes;
	const uint64_t at = (f->arch->word == 4 ? address & UINT32_MAX : address) - f->base;

	if (at >= bytes.size || bytes.size - at < width)
		return explain_missing(f, f->base + at);
	*out = pd_load(bytes.data + at, width, f->in->swap);
	return PS_READ_OK;
}

static enum ps_end end_of(enum ps_read status)
{
	return status == PS_READ_OK  ? PS_END_NONE :
	       status == PS_READ_CUT ? PS_END_STACK_CUT :
	       status == PS_READ_OTHER ? PS_END_OTHER_STACK : PS_END_BAD_CFI;
}

static enum ps_read read_register(struct ps_frame_state *f, unsigned int number, uint64_t *out)
{
	*out = 0;
	if (number >= PS_MAX_REGISTERS)
		return PS_READ_UNKNOWN;
	if (f->known & BIT(number)) {
		*out = f->value[number];
		return PS_READ_OK;
	}
	f->retry |= f->dropped >> number & 1;	/* of the unknown ones only */
	return f->cut & BIT(number)   ? PS_READ_CUT :
	       f->other & BIT(number) ? PS_READ_OTHER : PS_READ_UNKNOWN;
}

/* Notes what became of a register: its value, or why it has none. */
static void set_register(struct ps_frame_state *f, unsigned int number, enum ps_read status,
			 uint64_t value)
{
	const uint64_t bit = BIT(number);

	f->value[number] = value;
	f->known |= bit;
	if (status == PS_READ_OK)
		return;
	f->known &= ~bit;
	f->dropped &= ~bit;
	f->cut = status == PS_READ_CUT ? f->cut | bit : f->cut & ~bit;
	f->other = status == PS_READ_OTHER ? f->other | bit : f->other & ~bit;
}

/* The registers of a precise sample are those after its instruction. If that was a call, the stack
 * pointer does not fit to the program counter. */
static void undo_call(struct ps_frame_state *f)
{
	const struct ps_arch *arch = f->arch;
	uint64_t top;

	if (f->in->precise && !arch->link &&
	    read_stack_word(f, f->base, arch->word, &top) == PS_READ_OK && top > f->pc &&
	    top - f->pc <= LONGEST_CALL)
		f->value[arch->sp] += arch->word;
}

bool ps_frame_start(struct ps_frame_state *f, const struct ps_copied_stack *in)
{
	const struct ps_arch *arch = in->arch;
	uint64_t mask = in->mask;
	bool has_pc = false;

	f->in = in;
	f->arch = arch;
	f->known = f->cut = f->other = f->dropped = 0;
	f->base = 0;
	f->exact = true;
	f->retry = false;
	for (size_t i = 0; mask && i < in->nr_registers; i++, mask &= mask - 1) {
		const unsigned int bit = (unsigned int)__builtin_ctzll(mask);
		const int number = bit < arch->nr_bits ? arch->numbers[bit] : -1;
		const uint64_t value = arch->word == 4 ? in->registers[i] & UINT32_MAX :
							 in->registers[i];

		if (number >= 0)
			set_register(f, (unsigned int)number, PS_READ_OK, value);
		if (bit == arch->pc_bit) {
			f->pc = value;
			has_pc = true;
		}
	}
	if (!has_pc || !(f->known & BIT(arch->sp)))
		return false;
	f->base = f->value[arch->sp];
	undo_call(f);
	return true;
}

/* Goes to the caller, whose stack pointer and return address are found. */
static enum ps_end enter_caller(struct ps_frame_state *f, uint64_t sp, uint64_t pc, bool signal)
{
	const struct ps_arch *arch = f->arch;
	const uint64_t old = f->value[arch->sp], from = f->pc;

	f->pc = ps_arch_strip(arch, pc, f->in->highest);
	if (!f->pc)
		return PS_END_BOTTOM;
	/* A leaf function may need no stack at all. */
	if (!signal && (sp < old || (sp == old && (!f->exact || f->pc == from))))
		return PS_END_NO_PROGRESS;
	set_register(f, arch->sp, PS_READ_OK, sp);
	if (!arch->link || !signal)
		set_register(f, arch->ra, PS_READ_OK, f->pc);
	f->exact = signal;
	return PS_END_NONE;
}

/* --- rules --- */

static void restore_words(struct ps_frame_state *f, unsigned int number, int16_t words,
			  uint64_t cfa)
{
	const unsigned int width = f->arch->word;
	uint64_t value = 0;
	enum ps_read status;

	if (words == PS_WORDS_SAME)
		return;
	if (words == PS_WORDS_UNKNOWN) {
		set_register(f, number, PS_READ_UNKNOWN, 0);
		return;
	}
	status = read_stack_word(f, cfa + (uint64_t)((int64_t)words * width), width, &value);
	set_register(f, number, status, value);
}

static enum ps_end read_return_address(struct ps_frame_state *f, const struct ps_rule *rule,
				       uint64_t cfa, uint64_t *ra)
{
	const struct ps_arch *arch = f->arch;

	if (rule->ra == PS_WORDS_UNKNOWN)
		return PS_END_BOTTOM;
	if (rule->ra == PS_WORDS_SAME) {
		/* Only a leaf function leaves it there: others have called since. */
		if (!f->exact)
			return PS_END_NO_PROGRESS;
		return end_of(read_register(f, arch->ra, ra));
	}
	return end_of(read_stack_word(f, cfa + (uint64_t)((int64_t)rule->ra * arch->word),
				    arch->word, ra));
}

enum ps_end ps_frame_step_rule(struct ps_frame_state *f, const struct ps_rule *rule)
{
	const struct ps_arch *arch = f->arch;
	const bool plt = ps_rule_kind(rule) == PS_RULE_PLT;
	const uint64_t kept = BIT(arch->sp) | BIT(arch->fp) | BIT(arch->more);
	uint64_t cfa, ra;
	enum ps_end end;

	end = end_of(read_register(f, plt ? arch->sp : rule->cfa_reg, &cfa));
	if (end != PS_END_NONE)
		return end;
	cfa += (uint64_t)(int64_t)rule->cfa_offset;
	if (plt && (f->pc & 15) >= rule->cfa_reg)
		cfa += arch->word;
	if (arch->word == 4)
		cfa &= UINT32_MAX;
	end = read_return_address(f, rule, cfa, &ra);
	if (end != PS_END_NONE)
		return end;
	f->known &= arch->preserved | kept;
	if (rule->flags & PS_RULE_DROPS) {
		f->known &= kept;
		f->dropped = ~kept;
	}
	restore_words(f, arch->fp, rule->fp, cfa);
	restore_words(f, arch->more, rule->more, cfa);
	return enter_caller(f, cfa, ra, rule->flags & PS_RULE_SIGNAL);
}

/* --- rows --- */

static enum ps_read expression_register(const void *ctx, unsigned int number, uint64_t *out)
{
	return read_register((struct ps_frame_state *)ctx, number, out);
}

static enum ps_read expression_memory(const void *ctx, uint64_t address, unsigned int width,
				      uint64_t *out)
{
	return read_stack_word(ctx, address, width, out);
}

static enum ps_read run_expression(struct ps_frame_state *f, const struct ps_row *row,
				   const struct ps_location *at, uint64_t cfa, uint64_t *out)
{
	const struct ps_expression_input in = { expression_register, expression_memory, f, cfa,
						f->arch->word };

	return ps_expression_run(row->ops + at->first, at->count, &in, out);
}

static enum ps_read find_value(struct ps_frame_state *f, const struct ps_row *row,
			       unsigned int number, uint64_t cfa, uint64_t *out)
{
	const struct ps_location *at = &row->at[number];
	const unsigned int word = f->arch->word;
	enum ps_read status;
	uint64_t address;

	switch ((enum ps_where)at->where) {
	case PS_AT_SAME:
		return read_register(f, number, out);
	case PS_IN_REGISTER:
		return read_register(f, at->reg, out);
	case PS_IS_CFA:
		*out = cfa + (uint64_t)at->offset;
		return PS_READ_OK;
	case PS_AT_CFA:
		return read_stack_word(f, cfa + (uint64_t)at->offset, word, out);
	case PS_IS_EXPRESSION:
		return run_expression(f, row, at, cfa, out);
	case PS_AT_EXPRESSION:
		status = run_expression(f, row, at, cfa, &address);
		return status == PS_READ_OK ? read_stack_word(f, address, word, out) : status;
	case PS_AT_NOWHERE:
		break;
	}
	return PS_READ_UNKNOWN;
}

/* The registers that the kernel saved when it delivered a signal, for machines whose CFI does not
 * have them. */
static enum ps_end step_signal(struct ps_frame_state *f)
{
	const struct ps_arch *arch = f->arch;
	const uint64_t sp = f->value[arch->sp];
	uint64_t pc, value = 0;
	enum ps_end end = end_of(read_stack_word(f, sp + arch->signal_pc, arch->word, &pc));

	if (end != PS_END_NONE)
		return end;
	for (unsigned int i = 0; i < arch->nr_registers; i++) {
		const uint64_t at = sp + arch->signal_registers + (uint64_t)i * arch->word;
		const enum ps_read status = read_stack_word(f, at, arch->word, &value);

		set_register(f, i, status, value);
	}
	if (!(f->known & BIT(arch->sp)))
		return PS_END_STACK_CUT;
	return enter_caller(f, f->value[arch->sp], pc, true);
}

static enum ps_end find_cfa(struct ps_frame_state *f, const struct ps_row *row, uint64_t *cfa)
{
	enum ps_end end;

	if (row->cfa.where != PS_IN_REGISTER)
		return end_of(run_expression(f, row, &row->cfa, 0, cfa));
	end = end_of(read_register(f, row->cfa.reg, cfa));
	*cfa += (uint64_t)row->cfa.offset;
	if (f->arch->word == 4)
		*cfa &= UINT32_MAX;
	return end;
}

/* Finds the registers of the caller, but for its stack pointer and program counter. */
static void restore_row(struct ps_frame_state *f, const struct ps_row *row, uint64_t cfa)
{
	struct ps_frame_state from = *f;

	for (unsigned int i = 0; i < f->arch->nr_registers; i++) {
		uint64_t value = 0;
		enum ps_read status;

		from.retry = false;
		status = find_value(&from, row, i, cfa, &value);
		set_register(f, i, status, value);
		if (from.retry && status != PS_READ_OK)
			f->dropped |= BIT(i);
	}
	if (row->at[f->arch->sp].where == PS_AT_NOWHERE)
		set_register(f, f->arch->sp, PS_READ_OK, cfa);
}

enum ps_end ps_frame_step_row(struct ps_frame_state *f, const struct ps_row *row)
{
	const struct ps_arch *arch = f->arch;
	const uint64_t old_sp = f->value[arch->sp];
	uint64_t cfa, ra, sp;
	enum ps_end end;

	if (row->signal && arch->signal_registers)
		return step_signal(f);
	end = find_cfa(f, row, &cfa);
	if (end != PS_END_NONE)
		return end;
	if (row->at[arch->ra].where == PS_AT_NOWHERE)
		return PS_END_BOTTOM;
	if (row->at[arch->ra].where == PS_AT_SAME && !(arch->link && f->exact))
		return PS_END_NO_PROGRESS;
	end = end_of(find_value(f, row, arch->ra, cfa, &ra));
	if (end != PS_END_NONE)
		return end;
	restore_row(f, row, cfa);
	end = end_of(read_register(f, arch->sp, &sp));
	if (end != PS_END_NONE)
		return end;
	f->value[arch->sp] = old_sp;
	return enter_caller(f, sp, ra, row->signal);
}

/* --- frame pointers --- */

enum ps_end ps_frame_step_pointer(struct ps_frame_state *f)
{
	const struct ps_arch *arch = f->arch;
	const uint64_t fp = f->value[arch->fp];
	uint64_t caller, ra;

	if (!(f->known & BIT(arch->fp)) || fp < f->value[arch->sp] || fp % arch->word ||
	    read_stack_word(f, fp, arch->word, &caller) != PS_READ_OK ||
	    read_stack_word(f, fp + arch->word, arch->word, &ra) != PS_READ_OK)
		return PS_END_NO_CFI;
	f->known = BIT(arch->sp) | BIT(arch->fp);
	f->dropped = 0;
	f->value[arch->fp] = caller;
	return enter_caller(f, fp + 2u * arch->word, ra, false);
}
