/* plt_row.c - lld and mold write no call frame information for PLTs, and no linker does for that of
 * aarch64. Their instructions tell what they pushed. */
#include "unwind/plt_row.h"

#include <string.h>

#include "image/plt.h"

#define ENTRY 16		/* bytes; entries of 8 are two in one, as they push nothing */

/* An instruction of x86, by its first bytes. */
struct instruction {
	uint8_t bytes[3], nr_bytes;
	uint8_t length;
	uint8_t pushes;		/* words */
};

static const struct instruction instructions[] = {
	{ { 0xf3, 0x0f, 0x1e }, 3, 4, 0 },	/* endbr64, endbr32 */
	{ { 0xf2, 0xff, 0x25 }, 3, 7, 0 },	/* bnd jmp *word(%rip) */
	{ { 0xff, 0x25 }, 2, 6, 0 },		/* jmp *word(%rip), jmp *word */
	{ { 0xff, 0xa3 }, 2, 6, 0 },		/* jmp *word(%ebx) */
	{ { 0xff, 0x35 }, 2, 6, 1 },		/* push word(%rip), push word */
	{ { 0xff, 0xb3 }, 2, 6, 1 },		/* push word(%ebx) */
	{ { 0x68 }, 1, 5, 1 },			/* push $number */
	{ { 0xf2, 0xe9 }, 2, 6, 0 },		/* bnd jmp */
	{ { 0xe9 }, 1, 5, 0 },			/* jmp */
	{ { 0x66, 0x90 }, 2, 2, 0 },		/* fills an entry of 8 bytes */
};

static const struct instruction *decode_instruction(struct pd_bytes code)
{
	for (size_t i = 0; i < sizeof(instructions) / sizeof(*instructions); i++) {
		const struct instruction *in = &instructions[i];

		if (code.size >= in->length && !memcmp(code.data, in->bytes, in->nr_bytes))
			return in;
	}
	return NULL;
}

/* Counts the words that an entry has pushed before the instruction at `at`. Returns -1 if there is
 * none that is known. The first entry of a PLT is reached from others, which have pushed one. */
static int count_pushed(struct pd_bytes entry, size_t at)
{
	const struct instruction *in = decode_instruction(entry);
	int pushed = in ? in->bytes[0] == 0xff && in->pushes : 0;

	while (in && at >= in->length) {
		pushed += in->pushes;
		at -= in->length;
		entry.data += in->length;
		entry.size -= in->length;
		in = decode_instruction(entry);
	}
	return in && !at ? pushed : -1;
}

/* The first entry, only, pushes: a pair of registers. */
static int count_pushed_arm(struct pd_bytes section, size_t at, enum pd_swap swap)
{
	for (size_t i = 0; at < PS_PLT_ARM_FIRST && i < at && i + 4 <= section.size; i += 4)
		if (pd_load32(section.data + i, swap) == PS_PLT_ARM_PUSH)
			return 2;
	return 0;
}

static void make_row(const struct ps_arch *arch, int pushed, struct ps_row *out)
{
	const bool in_register = arch->link && !pushed;

	out->nr_ops = 0;
	out->signal = out->of_code = false;
	out->cfa = (struct ps_location){
		.where = PS_IN_REGISTER,
		.reg = arch->sp,
		.offset = (int64_t)arch->word * (arch->link ? pushed : pushed + 1),
	};
	for (unsigned int i = 0; i < arch->nr_registers; i++)
		out->at[i].where = arch->preserved >> i & 1 ? PS_AT_SAME : PS_AT_NOWHERE;
	out->at[arch->sp].where = PS_AT_NOWHERE;	/* the CFA */
	out->at[arch->ra] = (struct ps_location){
		.where = in_register ? PS_AT_SAME : PS_AT_CFA,
		.offset = in_register ? 0 : -(int64_t)arch->word,
	};
}

bool ps_plt_row(const struct ps_elf *e, const struct ps_arch *arch, uint64_t vaddr,
		struct ps_row *out)
{
	for (size_t i = 1; i < e->nr_sections; i++) {
		const struct ps_section *s = &e->sections[i];
		const uint64_t at = vaddr - s->addr;
		struct pd_bytes code;
		int pushed;

		if (!ps_elf_is_plt(s) || vaddr < s->addr || at >= s->header.sh_size)
			continue;
		code = ps_elf_section_bytes(e, s);
		if (at >= code.size)
			return false;
		if (arch->link) {
			pushed = count_pushed_arm(code, at, ps_elf_swap(e));
		} else {
			code.data += at / ENTRY * ENTRY;
			code.size -= at / ENTRY * ENTRY;
			pushed = count_pushed(code, at % ENTRY);
		}
		out->start = vaddr;
		out->end = vaddr + 1;
		if (pushed >= 0)
			make_row(arch, pushed, out);
		return pushed >= 0;
	}
	return false;
}
