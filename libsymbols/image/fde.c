/* fde.c - the extents of functions: libdw cuts .eh_frame into entries, of which only the encoded
 * addresses are left to read. */
#include "image/fde.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "base/map.h"

#define APPLICATION 0x70	/* bits of an encoding: to what the value is relative */
#define VALUE 0x0f		/* its width and sign */

struct extents {
	struct ps_elf *e;
	const struct ps_section *section;
	struct pd_bytes bytes;
	struct pd_map encodings;	/* offset of a CIE -> its encoding + 1 */
	struct ps_symtab *t;
};

unsigned int ps_encoded_width(const unsigned char *ident, uint8_t encoding)
{
	switch (encoding & VALUE) {
	case DW_EH_PE_absptr:
		return ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

static uint64_t sign_extend(uint64_t value, unsigned int width)
{
	const unsigned int shift = 64 - 8 * width;

	return (uint64_t)((int64_t)(value << shift) >> shift);
}

/* Returns the encoding of the addresses in the FDEs of a CIE; DW_EH_PE_omit if it is unknown. */
static uint8_t encoding_of(const struct ps_elf *e, const Dwarf_CIE *cie)
{
	struct pd_cursor c = pd_cursor((struct pd_bytes){ cie->augmentation_data,
							  cie->augmentation_data_size },
				       PD_SWAP_NO);
	const char *a = cie->augmentation;
	unsigned int width;

	if (*a != 'z')
		return *a ? DW_EH_PE_omit : DW_EH_PE_absptr;
	for (a++; *a; a++) {
		const uint8_t *encoding;

		if (*a == 'S' || *a == 'B' || *a == 'G')
			continue;
		encoding = pd_take(&c, 1);
		if (!encoding || (*a != 'R' && *a != 'L' && *a != 'P'))
			return DW_EH_PE_omit;
		if (*a == 'R')
			return *encoding;
		width = ps_encoded_width(e->header.e_ident, *encoding);
		if (*a == 'P' && (!width || !pd_take(&c, width)))
			return DW_EH_PE_omit;
	}
	return DW_EH_PE_absptr;
}

static void add_extent(struct extents *x, const Dwarf_FDE *fde, uint8_t encoding)
{
	const unsigned int width = ps_encoded_width(x->e->header.e_ident, encoding);
	struct pd_cursor c =
		pd_cursor((struct pd_bytes){ fde->start, (size_t)(fde->end - fde->start) },
			  ps_elf_swap(x->e));
	struct ps_symbol s = { .source = PS_FROM_FDE }, known;
	uint64_t size;

	if (!width || !pd_take_number(&c, width, &s.start) || !pd_take_number(&c, width, &size))
		return;
	if (encoding & DW_EH_PE_signed)
		s.start = sign_extend(s.start, width);
	if ((encoding & APPLICATION) == DW_EH_PE_pcrel)
		s.start += x->section->addr + (uint64_t)(fde->start - x->bytes.data);
	else if ((encoding & APPLICATION) != DW_EH_PE_absptr)
		return;
	s.end = s.start + size;
	if (!size || s.start == 0 || ps_symtab_find(x->t, s.start, &known))
		return;
	ps_symtab_add(x->t, &s, 0);
}

static void read_entry(struct extents *x, uint64_t offset, const Dwarf_CFI_Entry *entry)
{
	void *encoding;

	if (dwarf_cfi_cie_p(entry)) {
		encoding = (void *)(uintptr_t)(encoding_of(x->e, &entry->cie) + 1);
		pd_map_add(&x->encodings, offset, encoding);
		return;
	}
	encoding = pd_map_find(&x->encodings, entry->fde.CIE_pointer);
	if (encoding)
		add_extent(x, &entry->fde, (uint8_t)((uintptr_t)encoding - 1));
}

void ps_elf_add_extents(struct ps_elf *e, struct ps_symtab *t)
{
	struct extents x = { .e = e, .encodings.budget = e->budget, .t = t };
	Dwarf_CFI_Entry entry;
	Dwarf_Off next = 0;
	Elf_Data data;

	x.section = ps_elf_section_named(e, ".eh_frame");
	if (!x.section || e->header.e_type == ET_REL)
		return;
	x.bytes = ps_elf_section_bytes(e, x.section);
	data = (Elf_Data){ .d_buf = (void *)x.bytes.data, .d_type = ELF_T_BYTE,
			   .d_version = EV_CURRENT, .d_size = x.bytes.size, .d_align = 1 };
	for (Dwarf_Off at = 0; at < x.bytes.size && next < x.bytes.size; at = next) {
		if (dwarf_next_cfi(e->header.e_ident, &data, true, at, &next, &entry) != 0 ||
		    next <= at)
			break;
		read_entry(&x, at, &entry);
	}
	pd_map_free(&x.encodings);
}
