/* code_row.c - follows a function from its beginning: see code_row.h.
 *
 * Instructions are looked at in the order of addresses. A jump notes how the stack is where it
 * leads to. Code after a jump or return, to which nothing before it leads, is not followed until a
 * later jump back is found: then all begins again. Code to which no jump leads has no row. Unlike
 * call frame information this may be wrong: the unwinder checks that the return address follows a
 * call.
 */
#include "unwind/code_row.h"

#include <elf.h>
#include <string.h>

#include "unwind/code_starts.h"
#include "unwind/x86.h"

enum {
	LARGEST_FRAME = 1 << 24,
	MAX_TARGETS = 64,
	MAX_MOVES = 64,
	MAX_PASSES = 4,
	REGISTERS = 16,
	LONGEST_CALL = PS_X86_LONGEST_CALL,
	SP = 4, FP = 5,		/* as instructions number them */
	UNSAVED = 0, LOST = 1,	/* instead of a place */
};

/* The state of the stack at an instruction. Places are relative to the CFA. */
struct stack {
	bool has_sp, has_fp;
	int32_t sp, fp;			/* what the registers are */
	int32_t saved[REGISTERS];	/* where registers are saved, below 0; UNSAVED, LOST */
};

struct target {
	uint64_t offset;	/* from the function's start */
	struct stack stack;
};

struct targets {
	struct target all[MAX_TARGETS];
	size_t nr;
};

/* From an instruction on, the stack pointer is elsewhere. */
struct move {
	uint64_t offset;
	bool has_sp;
	int32_t sp;
};

struct follower {
	unsigned int word;
	uint64_t preserved;	/* by the number of instructions */
	struct stack stack;
	bool is_reached;	/* otherwise `stack` is not that of the next instruction */
	bool is_assumed;	/* `stack` is, unless a jump leads there */
	struct targets ahead, back;	/* back: where no instruction was reached so far */
	struct move moves[MAX_MOVES];	/* the last ones */
	size_t nr_moves;
	uint64_t reached[PS_LONGEST_FUNCTION / 64 + 1];	/* a bit for each byte */
};

/* DWARF numbers the first eight registers of x86-64 differently. */
static unsigned int dwarf_number(const struct ps_arch *arch, unsigned int reg)
{
	static const uint8_t numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return arch->machine == EM_X86_64 && reg < sizeof(numbers) ? numbers[reg] : reg;
}

static void start_function(struct follower *f)
{
	f->is_reached = true;
	f->is_assumed = false;
	f->stack = (struct stack){ .has_sp = true, .sp = -(int32_t)f->word };
}

static void start_following(struct follower *f, const struct ps_arch *arch)
{
	*f = (struct follower){ .word = arch->word };
	for (unsigned int reg = 0; reg < (arch->word == 8 ? 16 : 8); reg++)
		if (arch->preserved >> dwarf_number(arch, reg) & 1)
			f->preserved |= 1ull << reg;
}

/* --- what instructions do --- */

/* The stack pointer does not go above the return address, but by mistake. */
static void move_sp(struct follower *f, int64_t by)
{
	const int64_t to = f->stack.sp + by;

	if (to > -(int32_t)f->word || to < -LARGEST_FRAME)
		f->stack.has_sp = false;
	else
		f->stack.sp = (int32_t)to;
}

/* A saved register may be written; one that is not saved has the caller's value no more. */
static void write_register(struct follower *f, uint8_t reg)
{
	if (reg == SP)
		f->stack.has_sp = false;
	if (reg == FP)
		f->stack.has_fp = false;
	if (reg < REGISTERS && f->stack.saved[reg] == UNSAVED)
		f->stack.saved[reg] = LOST;
}

static bool has_callers_value(const struct follower *f, uint8_t reg)
{
	return reg < REGISTERS && f->preserved >> reg & 1 && f->stack.saved[reg] == UNSAVED &&
	       !(reg == FP && f->stack.has_fp);
}

/* Finds what a register and a distance are, relative to the CFA. */
static bool find_place(const struct follower *f, uint8_t base, int64_t value, int32_t *out)
{
	const struct stack *s = &f->stack;
	const int64_t place = value + (base == SP ? s->sp : s->fp);

	if (!(base == SP && s->has_sp) && !(base == FP && s->has_fp))
		return false;
	*out = (int32_t)place;
	return place < 0 && place > -LARGEST_FRAME;
}

static void save_register(struct follower *f, uint8_t reg, int32_t place)
{
	if (has_callers_value(f, reg) && place < -(int32_t)f->word)
		f->stack.saved[reg] = place;
}

static void push_register(struct follower *f, uint8_t reg)
{
	if (!f->stack.has_sp)
		return;
	move_sp(f, -(int64_t)f->word);
	if (f->stack.has_sp)
		save_register(f, reg, f->stack.sp);
}

static void pop_register(struct follower *f, uint8_t reg)
{
	struct stack *s = &f->stack;
	const bool is_back = s->has_sp && reg < REGISTERS && s->saved[reg] == s->sp;

	write_register(f, reg);
	if (s->has_sp)
		move_sp(f, f->word);
	if (is_back)
		s->saved[reg] = UNSAVED;
}

static void set_sp(struct follower *f, uint8_t base, int64_t value)
{
	int32_t place;

	f->stack.has_sp = find_place(f, base, value, &place) && place <= -(int32_t)f->word;
	if (f->stack.has_sp)
		f->stack.sp = place;
}

/* mov %rsp, %rbp; or lea of it */
static void set_register(struct follower *f, const struct ps_x86 *in)
{
	int32_t place;
	const bool has_place = find_place(f, in->base, in->value, &place);

	write_register(f, in->reg);
	if (in->reg != FP || !has_place)
		return;
	f->stack.has_fp = true;
	f->stack.fp = place;
}

static void leave(struct follower *f)
{
	set_sp(f, FP, 0);
	if (f->stack.has_sp)
		pop_register(f, FP);
	else
		write_register(f, FP);
}

static bool is_same(const struct stack *a, const struct stack *b)
{
	return a->has_sp == b->has_sp && a->has_fp == b->has_fp && (!a->has_sp || a->sp == b->sp) &&
	       (!a->has_fp || a->fp == b->fp) && !memcmp(a->saved, b->saved, sizeof(a->saved));
}

static void add_target(struct targets *t, uint64_t offset, const struct stack *stack)
{
	if (t->nr < MAX_TARGETS)
		t->all[t->nr++] = (struct target){ offset, *stack };
}

static bool was_reached(const struct follower *f, uint64_t offset)
{
	return f->reached[offset / 64] >> offset % 64 & 1;
}

static bool is_noted(const struct targets *t, uint64_t offset)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->all[i].offset == offset)
			return true;
	return false;
}

static void note_move(struct follower *f, uint64_t offset)
{
	const struct stack *s = &f->stack;
	const struct move *last = f->nr_moves ? &f->moves[(f->nr_moves - 1) % MAX_MOVES] : NULL;

	if (!last || last->has_sp != s->has_sp || (s->has_sp && last->sp != s->sp))
		f->moves[f->nr_moves++ % MAX_MOVES] = (struct move){ offset, s->has_sp, s->sp };
}

/* Returns whether the stack pointer is known to have been elsewhere when an instruction was
 * reached. */
static bool was_elsewhere(const struct follower *f, uint64_t offset)
{
	for (size_t n = 0; n < MAX_MOVES && n < f->nr_moves; n++) {
		const struct move *m = &f->moves[(f->nr_moves - 1 - n) % MAX_MOVES];

		if (m->offset <= offset)
			return m->has_sp && f->stack.has_sp && m->sp != f->stack.sp;
	}
	return false;
}

/* Notes that there is a way to an instruction, from one that ends at `end`. A loop that moves the
 * stack pointer does so as often as it runs. */
static void add_way(struct follower *f, uint64_t end, int64_t distance)
{
	const uint64_t to = end + (uint64_t)distance;

	if (distance > 0)
		add_target(&f->ahead, to, &f->stack);
	else if (to < end && !was_reached(f, to) && !is_noted(&f->back, to))
		add_target(&f->back, to, &f->stack);
	else if (to < end && was_reached(f, to) && was_elsewhere(f, to))
		f->stack.has_sp = false;
}

/* Where several ways meet, what they differ in is not known. */
static void merge(struct stack *to, const struct stack *from)
{
	to->has_sp = to->has_sp && from->has_sp && to->sp == from->sp;
	to->has_fp = to->has_fp && from->has_fp && to->fp == from->fp;
	for (unsigned int reg = 0; reg < REGISTERS; reg++)
		if (to->saved[reg] != from->saved[reg])
			to->saved[reg] = LOST;
}

/* Comes to the next instruction, in the order of addresses. */
static void arrive(struct follower *f, uint64_t offset)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->ahead.nr; i++) {
		const struct target *t = &f->ahead.all[i];

		if (t->offset > offset)
			f->ahead.all[kept++] = *t;
		if (t->offset != offset)
			continue;
		if (!f->is_reached || f->is_assumed)
			f->stack = t->stack;
		else if (!is_same(&f->stack, &t->stack))
			merge(&f->stack, &t->stack);
		f->is_reached = true;
		f->is_assumed = false;
	}
	f->ahead.nr = kept;
	if (!f->is_reached)
		return;
	f->reached[offset / 64] |= 1ull << offset % 64;
	note_move(f, offset);
}

/* `end`: offset of the next instruction. */
static void execute(struct follower *f, const struct ps_x86 *in, uint64_t end)
{
	switch ((enum ps_x86_effect)in->effect) {
	case PS_X86_NONE:
	case PS_X86_CALL:
	case PS_X86_CALL_INDIRECT:
		break;
	case PS_X86_PUSH:
		push_register(f, in->reg);
		break;
	case PS_X86_POP:
		pop_register(f, in->reg);
		break;
	case PS_X86_ADD_SP:
		if (f->stack.has_sp)
			move_sp(f, in->value);
		break;
	case PS_X86_LEA_SP:
		set_sp(f, in->base, in->value);
		break;
	case PS_X86_LEA:
		set_register(f, in);
		break;
	case PS_X86_STORE: {
		int32_t place;

		if (find_place(f, in->base, in->value, &place))
			save_register(f, in->reg, place);
		break;
	}
	case PS_X86_LEAVE:
		leave(f);
		break;
	case PS_X86_WRITE:
		write_register(f, in->reg);
		break;
	case PS_X86_BRANCH:
	case PS_X86_JUMP:
		add_way(f, end, in->value);
		f->is_reached = in->effect == PS_X86_BRANCH;
		break;
	case PS_X86_JUMP_INDIRECT:	/* of a switch, to what follows; or a tail call */
		f->is_reached = f->stack.sp < -(int32_t)f->word;
		f->is_assumed = true;
		break;
	case PS_X86_LEAVES:
		f->is_reached = false;
		break;
	}
}

/* --- rows --- */

/* The frame pointer is better: functions may take their arguments from the stack when they return
 * (those of V8, and stdcall). Without one, the CFA is not known where the stack pointer was
 * aligned, or loaded. To follow the frame pointer would lead to the caller's caller, or to a wrong
 * stack pointer: the row says that there is no way. */
static struct ps_location find_cfa(const struct stack *s, const struct ps_arch *arch)
{
	if (s->has_fp)
		return (struct ps_location){ .where = PS_IN_REGISTER, .reg = arch->fp,
					     .offset = -s->fp };
	if (s->has_sp)
		return (struct ps_location){ .where = PS_IN_REGISTER, .reg = arch->sp,
					     .offset = -s->sp };
	return (struct ps_location){ .where = PS_IN_REGISTER, .reg = PS_UNKNOWN_REGISTER };
}

static void make_row(const struct follower *f, const struct ps_arch *arch, struct ps_row *out)
{
	const struct stack *s = &f->stack;

	out->nr_ops = 0;
	out->signal = false;
	out->of_code = true;
	out->cfa = find_cfa(s, arch);
	for (unsigned int i = 0; i < arch->nr_registers; i++)
		out->at[i] = (struct ps_location){ .where = PS_AT_NOWHERE };
	for (uint8_t reg = 0; reg < REGISTERS; reg++) {
		struct ps_location *at = &out->at[dwarf_number(arch, reg)];

		if (!(f->preserved >> reg & 1))
			continue;
		/* A register saved below the stack pointer was loaded again. */
		if (s->saved[reg] < 0 && !(s->has_sp && s->saved[reg] < s->sp))
			*at = (struct ps_location){ .where = PS_AT_CFA, .offset = s->saved[reg] };
		else if (s->saved[reg] != LOST)
			at->where = PS_AT_SAME;
	}
	out->at[arch->ra] = (struct ps_location){ .where = PS_AT_CFA,
						  .offset = -(int64_t)arch->word };
}

/* Nothing calls the entry point. Its stack pointer is of no use, and may be aligned. */
static void make_outermost(const struct ps_arch *arch, struct ps_row *out)
{
	out->cfa = (struct ps_location){ .where = PS_IN_REGISTER, .reg = arch->sp };
	out->at[arch->ra] = (struct ps_location){ .where = PS_AT_NOWHERE };
}

/* Finds the bytes of the code from an address on. */
static bool find_code(const struct ps_elf *e, uint64_t vaddr, struct pd_bytes *out)
{
	uint64_t offset;

	if (!ps_elf_offset(e, vaddr, &offset) || offset >= e->bytes.size)
		return false;
	*out = (struct pd_bytes){ e->bytes.data + offset, e->bytes.size - offset };
	return true;
}

/* Follows the code until the instruction at an offset is reached: returns true. Otherwise up to the
 * function's end: a jump back to the instruction may come after it. */
static bool follow_once(struct follower *f, struct pd_bytes code, uint64_t offset)
{
	struct ps_x86 in;

	start_function(f);
	f->nr_moves = 0;
	f->ahead = f->back;
	for (uint64_t at = 0; at < PS_LONGEST_FUNCTION; at += in.length) {
		arrive(f, at);
		if ((!f->is_reached && !f->ahead.nr) ||
		    !ps_x86_decode(code, f->word == 8, &in))
			return false;
		if (f->is_reached && offset >= at && offset < at + in.length)
			return true;
		if (f->is_reached)
			execute(f, &in, at + in.length);
		code.data += in.length;
		code.size -= in.length;
	}
	return false;
}

static bool follow_function(struct follower *f, struct pd_bytes code, uint64_t offset)
{
	bool is_found = false;

	for (unsigned int pass = 0; pass < MAX_PASSES; pass++) {
		const size_t nr = f->back.nr;

		is_found = follow_once(f, code, offset);
		if (f->back.nr == nr)
			break;
	}
	return is_found;
}

bool ps_code_row(const struct ps_elf *e, const struct ps_arch *arch, uint64_t start, uint64_t vaddr,
		 struct ps_row *out)
{
	struct pd_bytes code;
	struct follower f;

	if ((arch->machine != EM_X86_64 && arch->machine != EM_386) || vaddr < start ||
	    vaddr - start >= PS_LONGEST_FUNCTION || !find_code(e, start, &code))
		return false;
	out->start = vaddr;
	out->end = vaddr + 1;
	start_following(&f, arch);
	if (!follow_function(&f, code, vaddr - start))
		return false;
	make_row(&f, arch, out);
	if (start && start == e->header.e_entry)
		make_outermost(arch, out);
	return true;
}

/* Follows what only jumps elsewhere: an entry of a PLT, where that is not known; or a function that
 * is another one with another name. */
static enum ps_code_call follow_jump(const struct ps_elf *e, uint64_t *vaddr)
{
	struct ps_x86 in = { .length = 0 };
	uint64_t at = *vaddr;
	struct pd_bytes code;

	for (unsigned int i = 0; i < 2 && in.effect == PS_X86_NONE; i++) {	/* after endbr64 */
		at += in.length;
		if (!find_code(e, at, &code) ||
		    !ps_x86_decode(code, e->header.e_machine == EM_X86_64, &in))
			return PS_CALL_DIRECT;
	}
	if (in.effect == PS_X86_JUMP)
		*vaddr = at + in.length + (uint64_t)in.value;
	return in.effect == PS_X86_JUMP_INDIRECT ? PS_CALL_INDIRECT : PS_CALL_DIRECT;
}

enum ps_code_call ps_code_call_before(const struct ps_elf *e, uint64_t vaddr, uint64_t *target)
{
	struct pd_bytes code;
	struct ps_x86 in;

	if (e->header.e_machine != EM_X86_64 && e->header.e_machine != EM_386)
		return PS_CALL_INDIRECT;
	/* The file that is made for a function of a jitdump has no code. */
	if (!find_code(e, vaddr, &code))
		return PS_CALL_INDIRECT;
	if (vaddr < LONGEST_CALL || !find_code(e, vaddr - LONGEST_CALL, &code) ||
	    code.size < LONGEST_CALL || !ps_x86_call_before(code.data, &in))
		return PS_NO_CALL;
	*target = vaddr + (uint64_t)in.value;
	if (e->header.e_machine == EM_386)
		*target &= UINT32_MAX;
	return in.effect == PS_X86_CALL_INDIRECT ? PS_CALL_INDIRECT : follow_jump(e, target);
}
