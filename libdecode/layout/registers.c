/* registers.c - machines and their registers, by bit of the mask (asm/perf_regs.h of each). */
#include "layout/registers.h"

#include <stddef.h>
#include <string.h>

#include "layout/names_syscalls.h"

#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

/* An XMM register takes two bits of the mask and two values. */
#define XMM(n) "xmm" #n "_lo", "xmm" #n "_hi"
static const char *const x86[] = {
	"ax",	"bx",	"cx",	"dx",	"si",	       "di",	"bp",	 "sp",	  "ip",	   "flags",
	"cs",	"ss",	"ds",	"es",	"fs",	       "gs",	"r8",	 "r9",	  "r10",   "r11",
	"r12",	"r13",	"r14",	"r15",	[32] = XMM(0), XMM(1),	XMM(2),	 XMM(3),  XMM(4),  XMM(5),
	XMM(6), XMM(7), XMM(8), XMM(9), XMM(10),       XMM(11), XMM(12), XMM(13), XMM(14), XMM(15),
};

static const char *const arm[] = {
	"r0", "r1", "r2",  "r3", "r4", "r5", "r6", "r7",
	"r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
};

static const char *const arm64[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",	    "x10", "x11",
	"x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",	    "x22", "x23",
	"x24", "x25", "x26", "x27", "x28", "x29", "lr",	 "sp",	"pc",  [46] = "vg",
};

static const char *const riscv[] = {
	"pc", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
	"a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
	"s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

static const char *const powerpc[] = {
	"r0",	 "r1",	 "r2",	  "r3",	  "r4",	     "r5",    "r6",    "r7",	"r8",	 "r9",
	"r10",	 "r11",	 "r12",	  "r13",  "r14",     "r15",   "r16",   "r17",	"r18",	 "r19",
	"r20",	 "r21",	 "r22",	  "r23",  "r24",     "r25",   "r26",   "r27",	"r28",	 "r29",
	"r30",	 "r31",	 "nip",	  "msr",  "orig_r3", "ctr",   "link",  "xer",	"ccr",	 "softe",
	"trap",	 "dar",	 "dsisr", "sier", "mmcra",   "mmcr0", "mmcr1", "mmcr2", "mmcr3", "sier2",
	"sier3", "pmc1", "pmc2",  "pmc3", "pmc4",    "pmc5",  "pmc6",  "sdar",	"siar",
};

static const char *const s390[] = {
	"r0",  "r1",  "r2",   "r3",   "r4",   "r5",   "r6",   "r7",   "r8",   "r9",  "r10", "r11",
	"r12", "r13", "r14",  "r15",  "fp0",  "fp1",  "fp2",  "fp3",  "fp4",  "fp5", "fp6", "fp7",
	"fp8", "fp9", "fp10", "fp11", "fp12", "fp13", "fp14", "fp15", "mask", "pc",
};

static const char *const loongarch[] = {
	"pc",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",	 "r7",	"r8",  "r9",  "r10",
	"r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21",
	"r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31",
};

static const char *const mips[] = {
	"pc",  "$1",  "$2",  "$3",  "$4",  "$5",  "$6",	 "$7",	"$8",  "$9",  "$10",
	"$11", "$12", "$13", "$14", "$15", "$16", "$17", "$18", "$19", "$20", "$21",
	"$22", "$23", "$24", "$25", "$26", "$27", "$28", "$29", "$30", "$31",
};

/* ABIv2; ABIv1 has only the first 20. */
static const char *const csky[] = {
	"tls",	    "lr",	"pc",	    "sr",      "sp",	  "orig_a0", "a0",	 "a1",
	"a2",	    "a3",	"regs0",    "regs1",   "regs2",	  "regs3",   "regs4",	 "regs5",
	"regs6",    "regs7",	"regs8",    "regs9",   "exregs0", "exregs1", "exregs2",	 "exregs3",
	"exregs4",  "exregs5",	"exregs6",  "exregs7", "exregs8", "exregs9", "exregs10", "exregs11",
	"exregs12", "exregs13", "exregs14", "hi",      "lo",	  "dcsr",
};

struct pd_arch {
	const char *text; /* feature ARCH; a trailing * matches any suffix */
	uint32_t e_machine; /* EM_ of linux/elf-em.h; 0: in another row */
	unsigned int word_size;
	const char *const *registers;
	size_t nr_registers;
	const struct pd_syscalls *syscalls;	/* NULL: their numbers are in no table */
};

/* The first matching row is used. Names that do not determine the word size have 0. */
static const struct pd_arch archs[] = {
	{ "x86_64", 62, 8, x86, ROWS(x86), &pd_syscalls_x86_64 },
	{ "i386", 3, 4, x86, ROWS(x86), &pd_syscalls_i386 },
	{ "i486", 0, 4, x86, ROWS(x86), &pd_syscalls_i386 },
	{ "i586", 0, 4, x86, ROWS(x86), &pd_syscalls_i386 },
	{ "i686", 0, 4, x86, ROWS(x86), &pd_syscalls_i386 },
	{ "x86", 0, 0, x86, ROWS(x86), NULL },
	{ "aarch64*", 183, 8, arm64, ROWS(arm64), &pd_syscalls_generic },
	{ "arm64*", 0, 8, arm64, ROWS(arm64), &pd_syscalls_generic },
	{ "arm*", 40, 4, arm, ROWS(arm), &pd_syscalls_arm },
	{ "riscv64*", 0, 8, riscv, ROWS(riscv), &pd_syscalls_generic },
	{ "riscv32*", 0, 4, riscv, ROWS(riscv), NULL },
	{ "riscv*", 243, 0, riscv, ROWS(riscv), NULL },
	{ "ppc64*", 21, 8, powerpc, ROWS(powerpc), NULL },
	{ "ppc*", 20, 4, powerpc, ROWS(powerpc), NULL },
	{ "powerpc*", 0, 0, powerpc, ROWS(powerpc), NULL },
	{ "s390x", 22, 8, s390, ROWS(s390), NULL },
	{ "s390", 0, 0, s390, ROWS(s390), NULL },
	{ "loongarch64", 0, 8, loongarch, ROWS(loongarch), &pd_syscalls_generic },
	{ "loongarch32*", 0, 4, loongarch, ROWS(loongarch), NULL },
	{ "loongarch*", 258, 0, loongarch, ROWS(loongarch), NULL },
	{ "mips64*", 0, 8, mips, ROWS(mips), NULL },
	{ "mips*", 8, 0, mips, ROWS(mips), NULL },
	{ "csky*", 252, 4, csky, ROWS(csky), NULL },
};

static int matches_machine(const char *row, struct pd_bytes text)
{
	size_t size = strlen(row);

	if (row[size - 1] == '*')
		return text.size >= size - 1 && memcmp(text.data, row, size - 1) == 0;
	return text.size == size && memcmp(text.data, row, size) == 0;
}

const struct pd_arch *pd_arch_find(struct pd_bytes arch)
{
	if (!arch.size)
		return NULL;
	for (size_t i = 0; i < ROWS(archs); i++)
		if (matches_machine(archs[i].text, arch))
			return &archs[i];
	return NULL;
}

const struct pd_arch *pd_arch_of_machine(uint32_t e_machine)
{
	if (!e_machine)
		return NULL;
	for (size_t i = 0; i < ROWS(archs); i++)
		if (archs[i].e_machine == e_machine)
			return &archs[i];
	return NULL;
}

uint32_t pd_arch_machine(const struct pd_arch *arch)
{
	for (size_t i = 0; arch && i < ROWS(archs); i++)
		if (archs[i].e_machine && archs[i].registers == arch->registers &&
		    (archs[i].word_size == arch->word_size || !archs[i].word_size))
			return archs[i].e_machine;
	return 0;
}

unsigned int pd_arch_word_size(const struct pd_arch *arch)
{
	return arch ? arch->word_size : 0;
}

const char *pd_arch_syscall(const struct pd_arch *arch, uint64_t number)
{
	return arch ? pd_syscall_name(arch->syscalls, number) : NULL;
}

const char *pd_register_name(const struct pd_arch *arch, unsigned int bit)
{
	return arch && bit < arch->nr_registers ? arch->registers[bit] : NULL;
}
