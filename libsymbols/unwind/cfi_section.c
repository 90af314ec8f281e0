/* cfi_section.c - finds sections of call frame information: see cfi_section.h. */
#include "unwind/cfi_section.h"

#include <dwarf.h>
#include <string.h>


#define ENTRY 8		/* bytes of an entry of the table: two distances of 32 bits */

static uint64_t extend(uint64_t v)
{
	return (uint64_t)(int64_t)(int32_t)(uint32_t)v;
}

static uint64_t entry_word(const struct ps_cfi_section *s, size_t i, size_t at)
{
	return s->index_vaddr + extend(pd_load32(s->index.data + i * ENTRY + at, ps_cfi_swap(s)));
}

static bool is_sorted(const struct ps_cfi_section *s)
{
	for (size_t i = 1; i < s->index.size / ENTRY; i++)
		if (entry_word(s, i, 0) < entry_word(s, i - 1, 0))
			return false;
	return true;
}

/* Reads .eh_frame_hdr in the form that all linkers write: distances of 32 bits, the table sorted
 * and relative to the header; or without a table. Returns false for others. */
static bool read_header(struct ps_cfi_section *s, struct pd_bytes header, uint64_t vaddr,
			uint64_t *eh_frame)
{
	struct pd_cursor c = pd_cursor(header, ps_cfi_swap(s));
	const uint8_t *form = pd_take(&c, 4);
	uint64_t distance, count;

	if (!form || form[0] != 1 || form[1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) ||
	    !pd_take_number(&c, 4, &distance))
		return false;
	*eh_frame = vaddr + 4 + extend(distance);
	if (form[2] == DW_EH_PE_omit || form[3] == DW_EH_PE_omit)
		return true;
	if (form[2] != DW_EH_PE_udata4 || form[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    !pd_take_number(&c, 4, &count) || count > pd_left(&c) / ENTRY)
		return false;
	pd_take_bytes(&c, (size_t)count * ENTRY, &s->index);
	s->index_vaddr = vaddr;
	return is_sorted(s);
}

static size_t count_sections(const struct ps_elf *image, const char *name)
{
	size_t n = 0;

	for (size_t i = 1; i < image->nr_sections; i++)
		n += image->sections[i].name && !strcmp(image->sections[i].name, name);
	return n;
}

/* By the names of sections. libdw's versions differ in whether they use a table that stands after
 * .eh_frame: then what they do without it is checked as well. */
static bool find_by_name(struct ps_elf *image, struct ps_cfi_section *out)
{
	const struct ps_section *frame = ps_elf_section_named(image, ".eh_frame");
	const struct ps_section *header = ps_elf_section_named(image, ".eh_frame_hdr");
	uint64_t eh_frame = frame->header.sh_addr;

	out->bytes = ps_elf_section_bytes(image, frame);
	out->vaddr = frame->header.sh_addr;
	out->scan = true;
	if (count_sections(image, ".eh_frame") > 1 || count_sections(image, ".eh_frame_hdr") > 1)
		return false;
	if (!header || header->header.sh_type == SHT_NOBITS)
		return true;
	if (!read_header(out, ps_elf_section_bytes(image, header), header->header.sh_addr,
			 &eh_frame))
		return false;
	if (eh_frame == frame->header.sh_addr)
		out->scan = header > frame || !out->index.size;
	else
		out->index.size = 0;
	return true;
}

/* By the program header, in files whose section headers were removed: up to the end of the
 * file. */
static bool find_by_segment(struct ps_elf *image, struct ps_cfi_section *out)
{
	uint64_t eh_frame, offset;
	struct pd_bytes header;
	size_t n;

	if (elf_getphdrnum(image->elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(image->elf, (int)i, &p) || p.p_type != PT_GNU_EH_FRAME)
			continue;
		if (p.p_offset > image->bytes.size || p.p_filesz > image->bytes.size - p.p_offset)
			return false;
		header = (struct pd_bytes){ image->bytes.data + p.p_offset, p.p_filesz };
		if (!read_header(out, header, p.p_vaddr, &eh_frame))
			return false;
		offset = eh_frame - p.p_vaddr + p.p_offset;
		if (offset >= image->bytes.size)
			return false;
		out->bytes = (struct pd_bytes){ image->bytes.data + offset,
						image->bytes.size - offset };
		out->vaddr = eh_frame;
		out->scan = !out->index.size;
		return true;
	}
	return false;
}

bool ps_cfi_find_eh_frame(struct ps_elf *image, struct ps_cfi_section *out)
{
	const struct ps_section *frame = ps_elf_section_named(image, ".eh_frame");
	bool found;

	*out = (struct ps_cfi_section){ .budget = image->budget, .kind = PS_EH_FRAME };
	out->ident = (const unsigned char *)elf_getident(image->elf, NULL);
	if (!out->ident)
		return false;
	if (frame && frame->header.sh_type == SHT_NOBITS)
		return false;
	if (image->header.e_type == ET_REL)	/* its addresses are not relocated */
		return false;
	found = frame ? find_by_name(image, out) : find_by_segment(image, out);
	if (!found || !out->bytes.size)
		return false;
	return !out->scan || ps_cfi_check_all(out);
}

bool ps_cfi_find_debug_frame(Dwarf *debug, struct pd_budget *budget, struct ps_cfi_section *out)
{
	Elf *elf = debug ? dwarf_getelf(debug) : NULL;
	Elf_Scn *scn = NULL;
	size_t names;

	*out = (struct ps_cfi_section){ .budget = budget, .kind = PS_DEBUG_FRAME, .scan = true };
	if (!elf || elf_getshdrstrndx(elf, &names))
		return false;
	out->ident = (const unsigned char *)elf_getident(elf, NULL);
	while (out->ident && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(scn, &header) ?
				   elf_strptr(elf, names, header.sh_name) : NULL;
		const Elf_Data *data;

		if (!name || strcmp(name, ".debug_frame") != 0 || header.sh_type == SHT_NOBITS)
			continue;
		data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf || data->d_size < 5)
			return false;
		out->bytes = (struct pd_bytes){ data->d_buf, data->d_size };
		return ps_cfi_check_all(out);
	}
	return false;
}

/* Finds the last entry that is not after the address, as libdw does. */
bool ps_cfi_search(const struct ps_cfi_section *s, uint64_t vaddr, struct ps_cfi_entry *out)
{
	const size_t n = s->index.size / ENTRY;
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (vaddr < entry_word(s, middle, 0))
			high = middle;
		else
			low = middle + 1;
	}
	if (!low)
		return false;
	out->start = entry_word(s, low - 1, 0);
	out->end = low < n ? entry_word(s, low, 0) : UINT64_MAX;
	out->offset = entry_word(s, low - 1, 4) - s->vaddr;
	return true;
}

void ps_cfi_section_close(struct ps_cfi_section *s)
{
	pd_buf_free(&s->clashes);
}
