/* x86.c - what instructions do to the stack: see x86.h. */
#include "unwind/x86.h"

#include "unwind/x86_operands.h"

enum { SP = 4, LONGEST = 15 };

static void set(struct ps_x86 *out, enum ps_x86_effect effect, uint8_t reg, int64_t value)
{
	out->effect = (uint8_t)effect;
	out->reg = reg;
	out->value = value;
}

static void set_written(const struct ps_x86_operands *d, struct ps_x86 *out, uint8_t reg)
{
	/* With 16 bits only, none of those that matter. */
	if (!d->is_vector)
		set(out, PS_X86_WRITE, reg, 0);
}

/* add, or, adc, sbb, and, sub, xor, cmp with an immediate. */
static void describe_arithmetic(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	const unsigned int what = d->reg & 7;

	if (d->mod != 3 || what == 7)
		return;
	if (d->rm == SP && (what == 0 || what == 5))
		set(out, PS_X86_ADD_SP, SP, what ? -d->immediate : d->immediate);
	else
		set_written(d, out, d->rm);
}

/* mov between registers is what lea is without a displacement. */
static void describe_address(const struct ps_x86_operands *d, uint8_t to, uint8_t from,
			     int64_t value, struct ps_x86 *out)
{
	if (from == PS_X86_NO_REGISTER || (d->wide && !(d->rex & PS_REX_W))) {
		set(out, PS_X86_WRITE, to, value);
		return;
	}
	set(out, to == SP ? PS_X86_LEA_SP : PS_X86_LEA, to, value);
	out->base = from;
}

static void describe_store(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	if (d->base == PS_X86_NO_REGISTER || d->is_short || (d->wide && !(d->rex & PS_REX_W)))
		return;
	set(out, PS_X86_STORE, d->reg, d->displacement);
	out->base = d->base;
}

static void describe_group_ff(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	switch (d->reg & 7) {
	case 0:
	case 1:
		if (d->mod == 3)
			set_written(d, out, d->rm);
		break;
	case 2:
	case 3:
		set(out, PS_X86_CALL_INDIRECT, PS_X86_NO_REGISTER, 0);
		break;
	case 4:
	case 5:
		set(out, PS_X86_JUMP_INDIRECT, PS_X86_NO_REGISTER, 0);
		break;
	case 6:
		set(out, PS_X86_PUSH, PS_X86_NO_REGISTER, 0);
		break;
	default:
		break;
	}
}

/* Opcodes 0x40 to 0xff in groups of 8, where all do the same to different registers. */
static bool describe_by_register(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	const uint8_t reg = (uint8_t)((d->opcode & 7) | (d->rex & PS_REX_B ? 8 : 0));

	switch (d->opcode & 0xf8) {
	case 0x40:		/* inc, dec: with 32 bits */
	case 0x48:
	case 0xb8:		/* mov of an immediate */
		set(out, PS_X86_WRITE, reg, d->immediate);
		return true;
	case 0x50:
		set(out, PS_X86_PUSH, reg, 0);
		return true;
	case 0x58:
		set(out, PS_X86_POP, reg, 0);
		return true;
	case 0x70:
	case 0x78:
		set(out, PS_X86_BRANCH, PS_X86_NO_REGISTER, d->immediate);
		return true;
	case 0x90:		/* xchg with rax */
		if (reg)
			set_written(d, out, reg);
		return true;
	default:
		return false;
	}
}

/* add ... cmp between registers and memory: of 8 opcodes, the second and fourth have an operand of
 * more than a byte. */
static void describe_low(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	const unsigned int form = d->opcode & 7;

	if (form >= 6)		/* segments, with 32 bits; prefixes are gone */
		set(out, form == 6 || d->opcode == 0x0e ? PS_X86_PUSH : PS_X86_POP,
		    PS_X86_NO_REGISTER, 0);
	else if (d->opcode < 0x38 && form == 1 && d->mod == 3)
		set_written(d, out, d->rm);
	else if (d->opcode < 0x38 && form == 3)
		set_written(d, out, d->reg);
}

/* Opcodes that do the same whatever their operands are; jumps have their distance. */
static bool describe_by_opcode(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	static const uint8_t effects[][2] = {
		{ 0x68, PS_X86_PUSH }, { 0x6a, PS_X86_PUSH }, { 0x9c, PS_X86_PUSH },
		{ 0x9d, PS_X86_POP }, { 0xc9, PS_X86_LEAVE },
		{ 0xc2, PS_X86_LEAVES }, { 0xc3, PS_X86_LEAVES }, { 0xca, PS_X86_LEAVES },
		{ 0xcb, PS_X86_LEAVES }, { 0xcf, PS_X86_LEAVES }, { 0xf4, PS_X86_LEAVES },
		{ 0xe0, PS_X86_BRANCH }, { 0xe1, PS_X86_BRANCH }, { 0xe2, PS_X86_BRANCH },
		{ 0xe3, PS_X86_BRANCH }, { 0xe9, PS_X86_JUMP }, { 0xeb, PS_X86_JUMP },
	};

	for (size_t i = 0; i < sizeof(effects) / sizeof(*effects); i++) {
		const enum ps_x86_effect effect = (enum ps_x86_effect)effects[i][1];
		const bool jumps = effect == PS_X86_BRANCH || effect == PS_X86_JUMP;

		if (effects[i][0] != d->opcode)
			continue;
		set(out, effect, PS_X86_NO_REGISTER, jumps ? d->immediate : 0);
		return true;
	}
	return false;
}

/* mov and lea, which may copy the stack pointer or store a register. */
static void describe_move(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	const bool in_memory = d->mod != 3;

	if (d->opcode == 0x8d)
		describe_address(d, d->reg, d->base, d->displacement, out);
	else if (d->opcode == 0x89 && in_memory)
		describe_store(d, out);
	else if (d->opcode == 0x89)
		describe_address(d, d->rm, d->reg, 0, out);
	else if (in_memory)
		set_written(d, out, d->reg);
	else
		describe_address(d, d->reg, d->rm, 0, out);
}

/* Opcodes that write a register or memory: the one of ModRM's r/m. */
static void describe_destination(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	const unsigned int what = d->reg & 7;

	if (d->mod != 3)
		return;
	if (d->opcode == 0xc7)
		set(out, PS_X86_WRITE, d->rm, d->immediate);
	else if (d->opcode != 0xf7 || what == 2 || what == 3)	/* not, neg */
		set_written(d, out, d->rm);
}

static void describe_one(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	if (d->opcode < 0x40) {
		describe_low(d, out);
		return;
	}
	if (describe_by_register(d, out) || describe_by_opcode(d, out))
		return;
	switch (d->opcode) {
	case 0x60:		/* pusha, popa: not written by compilers */
	case 0x61:
		set_written(d, out, SP);
		break;
	case 0x63:		/* movsxd, imul */
	case 0x69:
	case 0x6b:
		set_written(d, out, d->reg);
		break;
	case 0x81:
	case 0x83:
		describe_arithmetic(d, out);
		break;
	case 0x87:		/* xchg */
		set_written(d, out, d->mod == 3 && d->rm == SP ? SP : d->reg);
		break;
	case 0x89:
	case 0x8b:
	case 0x8d:
		describe_move(d, out);
		break;
	case 0x8f:
		set(out, PS_X86_POP, d->mod == 3 ? d->rm : PS_X86_NO_REGISTER, 0);
		break;
	case 0xc1:
	case 0xc7:
	case 0xd1:
	case 0xd3:
	case 0xf7:
		describe_destination(d, out);
		break;
	case 0xe8:		/* to the next instruction: its address is wanted */
		set(out, d->immediate ? PS_X86_CALL : PS_X86_PUSH, PS_X86_NO_REGISTER,
		    d->immediate);
		break;
	case 0xff:
		describe_group_ff(d, out);
		break;
	default:
		break;
	}
}

static void describe_two(const struct ps_x86_operands *d, struct ps_x86 *out)
{
	switch (d->opcode) {
	case 0x0b:		/* ud2 */
		set(out, PS_X86_LEAVES, PS_X86_NO_REGISTER, 0);
		return;
	case 0xa0:		/* fs and gs */
	case 0xa8:
		set(out, PS_X86_PUSH, PS_X86_NO_REGISTER, 0);
		return;
	case 0xa1:
	case 0xa9:
		set(out, PS_X86_POP, PS_X86_NO_REGISTER, 0);
		return;
	default:
		break;
	}
	if ((d->opcode & 0xf0) == 0x80)
		set(out, PS_X86_BRANCH, PS_X86_NO_REGISTER, d->immediate);
	else if ((d->opcode & 0xf0) == 0x40 || d->opcode == 0xaf || d->opcode == 0xb6 ||
		 d->opcode == 0xb7 || (d->opcode >= 0xbc && d->opcode <= 0xbf))
		set_written(d, out, d->reg);	/* cmov, imul, movzx, bsf, bsr, movsx */
	else if ((d->opcode & 0xf8) == 0xc8)	/* bswap */
		set_written(d, out, (uint8_t)((d->opcode & 7) | (d->rex & PS_REX_B ? 8 : 0)));
}

bool ps_x86_decode(struct pd_bytes code, bool wide, struct ps_x86 *out)
{
	const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct ps_x86_operands d = { .wide = wide };

	if (code.size > LONGEST)
		code.size = LONGEST;
	d.at = pd_cursor(code, is_big ? PD_SWAP_YES : PD_SWAP_NO);
	*out = (struct ps_x86){ .reg = PS_X86_NO_REGISTER, .base = PS_X86_NO_REGISTER };
	if (!ps_x86_take(&d))
		return false;
	out->length = (uint8_t)(code.size - pd_left(&d.at));
	if (d.map == PS_MAP_ONE)
		describe_one(&d, out);
	else if (d.map == PS_MAP_0F && !d.is_vector)
		describe_two(&d, out);
	return true;
}

/* A direct call has 5 bytes; an indirect one 2 to 8: with a prefix, a register or a base, an
 * index and a displacement. i386's are decoded alike. */
bool ps_x86_call_before(const uint8_t code[PS_X86_LONGEST_CALL], struct ps_x86 *out)
{
	enum { SHORTEST = 2 };

	for (size_t n = PS_X86_LONGEST_CALL; n >= SHORTEST; n--) {
		const struct pd_bytes last = { code + PS_X86_LONGEST_CALL - n, n };

		if (ps_x86_decode(last, true, out) && out->length == n &&
		    (out->effect == PS_X86_CALL || out->effect == PS_X86_CALL_INDIRECT))
			return true;
	}
	return false;
}
