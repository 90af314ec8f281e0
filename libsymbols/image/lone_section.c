/* lone_section.c - see lone_section.h. */
#include "image/lone_section.h"

#include "image/expand.h"
#include "image/refused.h"
#include "image/section_image.h"

static enum ps_status open_copy(struct ps_lone_section *l, const struct ps_section *s)
{
	enum ps_status status = PS_OK;
	GElf_Chdr header;
	Elf_Scn *section;

	l->elf = elf_memory((char *)l->image.data, l->image.size);
	section = l->elf ? elf_getscn(l->elf, 1) : NULL;
	if (!section)
		return PS_BAD_FILE;
	if (s->header.sh_flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(section, &header))
			return PS_BAD_FILE;
		if (ps_can_expand(&header)) {
			status = ps_expand(l->elf, section, &header, &l->arena);
		} else if (pd_budget_charge(l->budget, header.ch_size)) {
			l->charged = header.ch_size;
		} else {
			status = PS_OVER_LIMIT;
		}
		if (status != PS_OK)
			return status;
	}
	l->dwarf = dwarf_begin_elf(l->elf, DWARF_C_READ, NULL);
	return l->dwarf ? PS_OK : PS_BAD_FILE;
}

enum ps_status ps_lone_section_open(struct ps_lone_section *l, const struct ps_elf *file,
				    const char *name, struct pd_budget *budget)
{
	const struct ps_section *s = ps_elf_section_named(file, name);
	struct ps_section_image copy = { .header = file->bytes.data, .name = name };
	enum ps_status status;

	*l = (struct ps_lone_section){ .image.budget = budget,
					.arena.budget = budget, .budget = budget };
	if (!s || !ps_elf_section_bytes(file, s).size)
		return PS_NOT_ELF;
	copy.swap = ps_elf_swap(file);
	copy.bytes = ps_elf_section_bytes(file, s);
	copy.flags = s->header.sh_flags & SHF_COMPRESSED;
	ps_section_image_write(&copy, &l->image);
	ps_refused_begin();
	status = l->image.failed ? PS_OVER_LIMIT : open_copy(l, s);
	if (ps_refused(budget))
		status = PS_OVER_LIMIT;
	if (status != PS_OK)
		ps_lone_section_close(l);
	return status;
}

void ps_lone_section_close(struct ps_lone_section *l)
{
	dwarf_end(l->dwarf);
	elf_end(l->elf);
	pd_arena_free(&l->arena);
	pd_buf_free(&l->image);
	if (l->budget)
		pd_budget_give_back(l->budget, l->charged);
	*l = (struct ps_lone_section){ .dwarf = NULL };
}
