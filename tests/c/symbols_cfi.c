/* symbols_cfi.c - rows of call frame information: symbols_cfi FILE, with addresses in hex on
 * standard input.
 *
 * Prints for each address why there is no row, or the row: "cfa=7+16 3=c-24 6=u 16=c-8". Numbers
 * are DWARF's; u: lost or unchanged, c: in memory at CFA + N, v: CFA + N itself, r: in a register,
 * exp and vexp: an expression.  symbols_cfi compare FILE... prints for each file how many of the
 * addresses that libdw alone has a row for are refused: at every 16th byte of the code.
 */
#include <inttypes.h>
#include <stdio.h>

#include "images.h"

static void print_location(const struct ps_location *l)
{
	switch ((enum ps_where)l->where) {
	case PS_AT_NOWHERE:
	case PS_AT_SAME:
		printf("u");
		break;
	case PS_AT_CFA:
		printf("c%+" PRId64, l->offset);
		break;
	case PS_IS_CFA:
		printf("v%+" PRId64, l->offset);
		break;
	case PS_IN_REGISTER:
		printf("r%u", l->reg);
		break;
	case PS_AT_EXPRESSION:
		printf("exp");
		break;
	case PS_IS_EXPRESSION:
		printf("vexp");
		break;
	}
}

static void print_row(const struct ps_row *row, const struct ps_arch *arch)
{
	if (row->cfa.where == PS_IN_REGISTER)
		printf("cfa=%u%+" PRId64, row->cfa.reg, row->cfa.offset);
	else
		printf("cfa=exp");
	for (unsigned int i = 0; i < arch->nr_registers; i++) {
		printf(" %u=", i);
		print_location(&row->at[i]);
	}
	puts(row->signal ? " signal" : "");
}

/* Counts addresses for which libdw has a row, and those of them for which we have none. */
static void compare(const char *path, struct image *image, const struct ps_arch *arch)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(image->elf.elf);
	uint64_t all = 0, refused = 0;
	static struct ps_row row;

	for (size_t i = 1; cfi && i < image->elf.nr_sections; i++) {
		const struct ps_section *s = &image->elf.sections[i];

		for (uint64_t at = 0; s->header.sh_flags & SHF_EXECINSTR && at < s->header.sh_size;
		     at += 16) {
			Dwarf_Frame *frame;

			if (dwarf_cfi_addrframe(cfi, s->addr + at, &frame))
				continue;
			free(frame);
			all++;
			refused += ps_cfi_row(image->cfi, arch, s->addr + at, &row) != PS_END_NONE;
		}
	}
	dwarf_cfi_end(cfi);
	printf("%s refused %" PRIu64 " of %" PRIu64 "\n", path, refused, all);
}

int main(int argc, char **argv)
{
	static struct images images;
	static struct ps_row row;
	char line[64];
	int first = argc > 2 && strcmp(argv[1], "compare") == 0 ? 2 : 1;

	images.budget.limit = 4ull << 30;
	for (int i = first; i < argc; i++) {
		struct image *image = image_of(&images, (unsigned int)i, argv[i]);
		const uint16_t machine = image->elf.header.e_machine;
		const struct ps_arch *arch =
			ps_arch_find(machine, machine == EM_386 ? PS_ABI_32 : PS_ABI_64);

		if (!image->cfi || !arch)
			continue;
		if (first == 2) {
			compare(argv[i], image, arch);
			continue;
		}
		while (fgets(line, sizeof(line), stdin)) {
			const enum ps_end end =
				ps_cfi_row(image->cfi, arch, strtoull(line, NULL, 16), &row);

			if (end == PS_END_NONE)
				print_row(&row, arch);
			else
				puts(ps_end_name(end));
		}
	}
	close_images(&images);
	return 0;
}
