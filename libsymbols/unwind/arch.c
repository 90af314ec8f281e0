/* arch.c - machines: see arch.h. */
#include "unwind/arch.h"

#include <elf.h>
#include <stddef.h>

#define BIT(n) (1ull << (n))
#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

/* By bit of asm/perf_regs.h: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 ... r15. The
 * return address's column stands for the program counter. */
static const int8_t x86_64_numbers[] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15,
};

static const int8_t i386_numbers[] = { 0, 3, 1, 2, 6, 7, 5, 4, 8 };

/* x0 ... x29, lr, sp; the program counter has no column. */
static const int8_t aarch64_numbers[] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

static const struct ps_arch machines[] = {
	{
		.name = "x86_64", .machine = EM_X86_64, .word = 8, .nr_registers = 17,
		.sp = 7, .fp = 6, .more = 3, .ra = 16, .pc_bit = 8,
		.numbers = x86_64_numbers, .nr_bits = ROWS(x86_64_numbers),
		.preserved = BIT(3) | BIT(6) | BIT(12) | BIT(13) | BIT(14) | BIT(15),
	},
	{
		.name = "i386", .machine = EM_386, .word = 4, .nr_registers = 9,
		.sp = 4, .fp = 5, .more = 3, .ra = 8, .pc_bit = 8,
		.numbers = i386_numbers, .nr_bits = ROWS(i386_numbers),
		.preserved = BIT(3) | BIT(5) | BIT(6) | BIT(7),
	},
	{
		/* struct rt_sigframe: 128 bytes of siginfo, then the context. Its CFI names only
		 * the frame record, whose return address is not that of the interrupted code. */
		.name = "aarch64", .machine = EM_AARCH64, .word = 8, .nr_registers = 32,
		.sp = 31, .fp = 29, .more = 19, .ra = 30, .link = 1, .pc_bit = 32,
		.numbers = aarch64_numbers, .nr_bits = ROWS(aarch64_numbers),
		.preserved = (BIT(31) - 1) & ~(BIT(19) - 1) & ~BIT(30),
		.signal_registers = 312, .signal_pc = 568,
	},
};

uint16_t ps_arch_here(void)
{
#if defined(__x86_64__)
	return EM_X86_64;
#elif defined(__i386__)
	return EM_386;
#elif defined(__aarch64__)
	return EM_AARCH64;
#else
	return EM_NONE;
#endif
}

const struct ps_arch *ps_arch_find(uint16_t machine, uint64_t abi)
{
	if ((machine == EM_X86_64 || machine == EM_386) && abi == PS_ABI_32)
		return &machines[1];
	if (machine == EM_X86_64 && abi == PS_ABI_64)
		return &machines[0];
	if (machine == EM_AARCH64 && abi == PS_ABI_64)
		return &machines[2];
	return NULL;
}

/* x86 uses bits 0 to 23 and, for vectors, those from 32 on. */
bool ps_arch_has_mask(uint16_t machine, uint64_t mask)
{
	if (machine == EM_AARCH64)
		return mask & BIT(32);
	return (machine == EM_X86_64 || machine == EM_386) && mask & BIT(8) && !(mask & 0xff000000);
}

/* x86-64 leaves out ds, es, fs and gs; only aarch64 has 33. */
uint16_t ps_arch_of_mask(uint64_t mask)
{
	return mask == 0xff0fff	   ? EM_X86_64 :
	       mask == 0x1ffffffff ? EM_AARCH64 : EM_NONE;
}

uint64_t ps_arch_strip(const struct ps_arch *a, uint64_t address, uint64_t highest)
{
	static const uint8_t sizes[] = { 39, 42, 48, 52 };

	if (a->word == 4)
		return address & UINT32_MAX;
	if (a->machine != EM_AARCH64)
		return address;
	for (size_t i = 0; i < ROWS(sizes); i++)
		if (highest && highest < BIT(sizes[i]))
			return address & (BIT(sizes[i]) - 1);
	return address & (BIT(52) - 1);
}
