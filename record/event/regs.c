/* regs.c - asm/perf_regs.h: the bits of sample_regs_user and sample_regs_intr. */
#include "event/regs.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#if defined(__x86_64__)
/* DS, ES, FS and GS (12 to 15) are refused by 64-bit kernels. */
static const char *const register_names[64] = {
	"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags", "cs", "ss",
	[16] = "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};
#elif defined(__i386__)
static const char *const register_names[64] = {
	"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", "flags", "cs", "ss", "ds", "es",
	"fs", "gs",
};
#elif defined(__aarch64__)
static const char *const register_names[64] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
	"x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
	"x27", "x28", "x29", "lr", "sp", "pc",
};
#elif defined(__arm__)
static const char *const register_names[64] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr",
	"pc",
};
#elif defined(__riscv)
static const char *const register_names[64] = {
	"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
	"a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
	"t5", "t6",
};
#else
static const char *const register_names[64];	/* masks work without names */
#endif

uint64_t regs_all(void)
{
	uint64_t mask = 0;

	for (int i = 0; i < 64; i++)
		mask |= (uint64_t)(register_names[i] != NULL) << i;
	return mask;
}

static bool find_register(const char *name, size_t size, uint64_t *mask)
{
	for (int i = 0; i < 64; i++) {
		if (!register_names[i] || strlen(register_names[i]) != size ||
		    strncasecmp(register_names[i], name, size) != 0)
			continue;
		*mask |= 1ull << i;
		return true;
	}
	return false;
}

bool regs_parse(const char *text, uint64_t *mask)
{
	size_t size;

	*mask = *text ? 0 : regs_all();
	if (strncmp(text, "0x", 2) == 0) {
		char *end;

		*mask = strtoull(text, &end, 16);
		return !*end;
	}
	if (!*text)
		return true;
	for (const char *item; (item = cli_next_item(&text, &size));)
		if (!find_register(item, size, mask))
			return false;
	return true;
}

void regs_list(FILE *out)
{
	for (int i = 0; i < 64; i++)
		if (register_names[i])
			fprintf(out, "%s\n", register_names[i]);
}
