/* fuzz_unwind.c - stacks of an image whose call frame information is any bytes.
 *
 * The first byte chooses the machine, the second the size of the stack in words; the stack follows,
 * then the ELF file. Half of the stack's words become addresses in the code, the others addresses
 * in the stack.
 *
 * Within the budget, the same answer twice, and the same from a cache of two slots as from a larger
 * one.
 */
#include <elf.h>
#include <string.h>

#include "harness.h"
#include "unwind/unwind.h"

#define BASE 0x7ff000000000ull /* of the stack */
#define MAX_WORDS 255
#define POINTS 24 /* addresses that are unwound from */
#define REGISTERS 33

struct image {
	struct ps_elf elf;
	struct ps_cfi *cfi;
	uint64_t text, text_size;
};

struct answer {
	uint64_t hash;
	size_t frames;
};

static void locate(void *ctx, uint64_t address, struct ps_place *out)
{
	const struct image *image = ctx;

	if (address >= BASE)
		return;
	out->start = 0;
	out->end = BASE;
	out->image = 0;
	out->cfi = image->cfi;
}

static const struct ps_arch *arch_of(const struct image *image, uint8_t choice)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64 };
	const struct ps_arch *own =
		ps_arch_find(image->elf.header.e_machine,
			     image->elf.header.e_machine == EM_386 ? PS_ABI_32 : PS_ABI_64);
	const uint16_t machine = machines[choice % 3];

	return choice & 0x80 || !own
		       ? ps_arch_find(machine, machine == EM_386 ? PS_ABI_32 : PS_ABI_64)
		       : own;
}

/* The executable section, else anything. */
static void find_text(struct image *image)
{
	image->text = 0x1000;
	image->text_size = 0x1000;
	for (size_t i = 1; i < image->elf.nr_sections; i++) {
		const struct ps_section *s = &image->elf.sections[i];

		if (!(s->header.sh_flags & SHF_EXECINSTR) || !s->header.sh_size)
			continue;
		image->text = s->addr;
		image->text_size = s->header.sh_size;
	}
}

static void add(struct answer *a, uint64_t v)
{
	a->hash = (a->hash ^ v) * 0x9e3779b97f4a7c15ull;
	a->hash ^= a->hash >> 29;
}

static void unwind(struct image *image, const struct ps_arch *arch, const uint64_t *stack,
		   size_t words, unsigned int bits, struct answer *out)
{
	struct pd_budget budget = { .limit = FUZZ_MEMORY };
	struct ps_unwinder *u = ps_unwinder_new(
		&(struct ps_unwinder_options){ .budget = &budget, .cache_bits = bits });
	uint64_t registers[REGISTERS];
	struct ps_copied_stack in = {
		.arch = arch,
		.mask = (1ull << REGISTERS) - 1,
		.registers = registers,
		.nr_registers = REGISTERS,
		.bytes = { (const uint8_t *)stack, words * sizeof(*stack) },
		.size = words * sizeof(*stack),
		.generation = 1,
		.locate = locate,
		.ctx = image,
	};
	struct ps_chain chain;

	FUZZ_ASSERT(u, "no unwinder");
	for (size_t i = 0; i < POINTS; i++) {
		for (size_t k = 0; k < REGISTERS; k++)
			registers[k] = BASE + 8 * (k % 8);
		registers[arch->pc_bit] = image->text + image->text_size * i / POINTS;
		registers[arch->link ? 31 : 7] = BASE; /* the stack pointer */
		ps_unwind(u, &in, &chain);
		FUZZ_ASSERT(chain.end != PS_END_NONE && chain.nr_frames &&
				    chain.nr_frames <= PS_MAX_FRAMES,
			    "a chain of %zu", chain.nr_frames);
		out->frames += chain.nr_frames;
		add(out, chain.end);
		for (size_t k = 0; k < chain.nr_frames; k++) {
			add(out, chain.frames[k].addr);
			add(out, chain.frames[k].flags);
		}
	}
	ps_unwinder_free(u);
	FUZZ_ASSERT(budget.used == 0, "%llu bytes stay charged", (unsigned long long)budget.used);
}

static void check_image(struct image *image, uint8_t choice, const uint8_t *words, size_t n)
{
	const struct ps_arch *arch = arch_of(image, choice);
	struct answer answers[3] = { { 0, 0 } };
	uint64_t stack[MAX_WORDS + 1] = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t v;

		memcpy(&v, words + i * sizeof(v), sizeof(v));
		stack[i] = v & 1 ? image->text + (v >> 1) % image->text_size
				 : BASE + (v >> 1) % (n * sizeof(v));
	}
	unwind(image, arch, stack, n, 9, &answers[0]);
	unwind(image, arch, stack, n, 9, &answers[1]);
	unwind(image, arch, stack, n, 1, &answers[2]);
	FUZZ_ASSERT(answers[0].hash == answers[1].hash, "another answer the second time");
	FUZZ_ASSERT(answers[0].hash == answers[2].hash && answers[0].frames == answers[2].frames,
		    "another answer without a cache");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_budget budget = { .limit = FUZZ_MEMORY };
	struct image image = { .cfi = NULL };
	const uint64_t from = fuzz_cpu_time();
	size_t words;

	if (size < 2 || size - 2 < data[1] * sizeof(uint64_t))
		return 0;
	words = data[1];
	if (ps_elf_open_bytes(&image.elf,
			      (struct pd_bytes){ data + 2 + words * 8, size - 2 - words * 8 },
			      &budget) == PS_OK) {
		image.cfi = ps_cfi_new(&image.elf, &budget);
		FUZZ_ASSERT(image.cfi, "no handle");
		ps_cfi_add_debug_frame(image.cfi, &image.elf);
		find_text(&image);
		check_image(&image, data[0], data + 2, words);
		ps_cfi_free(image.cfi);
		ps_elf_close(&image.elf);
	}
	FUZZ_ASSERT(budget.used == 0, "%llu bytes stay charged", (unsigned long long)budget.used);
	fuzz_check_time(from, size);
	return 0;
}
