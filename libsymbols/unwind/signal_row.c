/* signal_row.c - musl and Go have trampolines of their own, without call frame information. They
 * are known by their instructions; the registers are where the kernel saved them. */
#include "unwind/signal_row.h"

#include <elf.h>
#include <string.h>

#define NO_REGISTER 0xff

/* Registers by DWARF number, in the order of struct sigcontext. */
static const uint8_t x86_64_saved[] = {
	8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16,
};
static const uint8_t i386_saved[] = {
	7, 6, 5, 4, 3, 2, 1, 0, NO_REGISTER, NO_REGISTER, 8,
};

struct trampoline {
	uint16_t machine;
	uint8_t code[9], size;
	uint8_t popped;		/* words that the first instruction takes from the stack */
	uint8_t saved_at;	/* distance from the stack pointer to the registers, afterwards */
	const uint8_t *saved;
	uint8_t nr_saved;
};

static const struct trampoline trampolines[] = {
	/* mov $15, %rax; syscall. struct ucontext begins with 40 other bytes. */
	{ EM_X86_64, { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 }, 9, 0, 40,
	  x86_64_saved, sizeof(x86_64_saved) },
	/* mov $173, %eax; int $0x80. After the handler's arguments and siginfo; four segments. */
	{ EM_386, { 0xb8, 173, 0, 0, 0, 0xcd, 0x80 }, 7, 0, 12 + 128 + 20 + 16,
	  i386_saved, sizeof(i386_saved) },
	/* pop %eax; mov $119, %eax; int $0x80 */
	{ EM_386, { 0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80 }, 8, 1, 16,
	  i386_saved, sizeof(i386_saved) },
	/* mov x8, #139; svc #0. The unwinder knows where the registers are. */
	{ EM_AARCH64, { 0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4 }, 8, 0, 0, NULL, 0 },
};

/* Finds the trampoline that has the byte at an offset in the file, and how far it begins before. */
static const struct trampoline *find_trampoline(const struct ps_elf *e, uint64_t offset,
						size_t *before)
{
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(*trampolines); i++) {
		const struct trampoline *t = &trampolines[i];

		for (*before = 0; *before < t->size && *before <= offset; ++*before)
			if (t->machine == e->header.e_machine && offset < e->bytes.size &&
			    e->bytes.size - (offset - *before) >= t->size &&
			    !memcmp(e->bytes.data + offset - *before, t->code, t->size))
				return t;
	}
	return NULL;
}

bool ps_signal_row(const struct ps_elf *e, const struct ps_arch *arch, uint64_t vaddr,
		   struct ps_row *out)
{
	const struct trampoline *t;
	uint64_t offset;
	size_t before;

	t = ps_elf_offset(e, vaddr, &offset) ? find_trampoline(e, offset, &before) : NULL;
	if (!t)
		return false;
	*out = (struct ps_row){ .start = vaddr, .end = vaddr + 1, .signal = true };
	out->cfa = (struct ps_location){ .where = PS_IN_REGISTER, .reg = arch->sp };
	out->cfa.offset = t->saved_at + (before ? 0 : t->popped * arch->word);
	for (unsigned int i = 0; i < t->nr_saved; i++)
		if (t->saved[i] != NO_REGISTER)
			out->at[t->saved[i]] = (struct ps_location){ .where = PS_AT_CFA,
								     .offset = i * arch->word };
	return true;
}
