/* code_starts.c - look for direct calls and for addresses of code: see code_starts.h. Instructions
 * are decoded one after the other: data between them may hide some, but not for long.
 */
#include "unwind/code_starts.h"

#include <elf.h>

#include "base/cursor.h"
#include "unwind/x86.h"

#define LARGEST_CODE (16u << 20)

static size_t nr_words(uint64_t size)
{
	return (size_t)(size + 63) / 64;
}

static void note(const struct ps_code_starts *s, uint64_t *bits, uint64_t at)
{
	if (at < s->size)
		bits[at / 64] |= 1ull << at % 64;
}

/* lea of an address relative to the program counter, of x86-64. */
static bool is_relative(const uint8_t *code, const struct ps_x86 *in)
{
	enum { LEA = 0x8d, OF_PC = 0x05, OF_PC_MASK = 0xc7, LENGTH = 7 };

	return in->length == LENGTH && code[1] == LEA && (code[2] & OF_PC_MASK) == OF_PC;
}

/* mov of an address, of programs that are not position-independent. */
static bool is_absolute(const uint8_t *code, const struct ps_x86 *in)
{
	enum { MOV = 0xb8, MOV_MASK = 0xf8, REX_W = 0x48, MOV_LONG = 0xc7 };

	return in->effect == PS_X86_WRITE && ((code[0] & MOV_MASK) == MOV ||
					      (code[0] == REX_W && code[1] == MOV_LONG));
}

static void read_code(struct ps_code_starts *s, struct pd_bytes code, bool wide, bool is_fixed)
{
	struct ps_x86 in;

	for (uint64_t at = 0; at < s->size; at += in.length) {
		const struct pd_bytes rest = { code.data + at, code.size - at };

		if (!ps_x86_decode(rest, wide, &in)) {
			in.length = 1;
			continue;
		}
		if (in.effect == PS_X86_CALL)
			note(s, s->called, at + in.length + (uint64_t)in.value);
		else if (wide && is_relative(rest.data, &in))
			note(s, s->taken, at + in.length + (uint64_t)in.value);
		else if (is_fixed && is_absolute(rest.data, &in))
			note(s, s->taken, (uint64_t)in.value - s->start);
	}
}

/* A function that only jumps to another one is a second name of it. */
static void follow_jumps(struct ps_code_starts *s, struct pd_bytes code, bool wide)
{
	struct ps_x86 in;

	for (uint64_t at = 0; at < s->size; at++) {
		const struct pd_bytes rest = { code.data + at, code.size - at };

		if (s->called[at / 64] >> at % 64 & 1 && ps_x86_decode(rest, wide, &in) &&
		    in.effect == PS_X86_JUMP)
			note(s, s->called, at + in.length + (uint64_t)in.value);
	}
}

static void read_segment(struct ps_code_starts *s, const struct ps_elf *e,
			 const struct ps_segment *code)
{
	const bool wide = e->header.e_machine == EM_X86_64;
	struct pd_bytes bytes;

	if (code->offset > e->bytes.size || code->filesz > e->bytes.size - code->offset ||
	    code->filesz > LARGEST_CODE)
		return;
	s->called = pd_budget_alloc(e->budget, 2 * nr_words(code->filesz) * sizeof(*s->called));
	if (!s->called)
		return;
	s->taken = s->called + nr_words(code->filesz);
	bytes = (struct pd_bytes){ e->bytes.data + code->offset, code->filesz };
	s->start = code->vaddr;
	s->size = code->filesz;
	if (e->header.e_entry)
		note(s, s->called, e->header.e_entry - s->start);
	read_code(s, bytes, wide, e->header.e_type == ET_EXEC);
	follow_jumps(s, bytes, wide);
}

static void read_file(struct ps_code_starts *s, const struct ps_elf *e)
{
	s->is_read = true;
	if (e->header.e_machine != EM_X86_64 && e->header.e_machine != EM_386)
		return;
	for (size_t i = 0; i < e->nr_segments; i++)
		if (e->segments[i].flags & PF_X) {
			read_segment(s, e, &e->segments[i]);
			return;
		}
}

bool ps_code_start(struct ps_code_starts *s, const struct ps_elf *e, uint64_t vaddr,
		   enum ps_code_evidence evidence, uint64_t *start)
{
	uint64_t at, mask;
	size_t word, last;

	if (!s->is_read)
		read_file(s, e);
	at = vaddr - s->start;
	if (!s->called || at >= s->size)
		return false;
	word = (size_t)(at / 64);
	last = word > PS_LONGEST_FUNCTION / 64 ? word - PS_LONGEST_FUNCTION / 64 : 0;
	mask = UINT64_MAX >> (63 - at % 64);
	for (;; word--, mask = UINT64_MAX) {
		const uint64_t taken = evidence == PS_CODE_TAKEN ? s->taken[word] : 0;
		const uint64_t bits = (s->called[word] | taken) & mask;

		if (bits) {
			*start = s->start + word * 64 + (63u - (unsigned int)__builtin_clzll(bits));
			return true;
		}
		if (word == last)
			return false;
	}
}

void ps_code_starts_free(struct ps_code_starts *s, struct pd_budget *budget)
{
	if (s->called)
		pd_budget_free(budget, s->called, 2 * nr_words(s->size) * sizeof(*s->called));
}
