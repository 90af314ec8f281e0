/* lone_section.c - see lone_section.h. */
#include "image/lone_section.h"

#include <stddef.h>
#include <string.h>

#include "image/expand.h"

enum { SECTIONS = 3 };	/* the empty one, the copy, and that of the names */

/* Places of members in the headers of one class. */
struct header_layout {
	size_t size, phoff, phnum, shoff, shnum, shstrndx;
	size_t section_size, flags, offset, bytes, align;
	unsigned int width;
};

#define LAYOUT(bits)									\
	{ sizeof(Elf##bits##_Ehdr), offsetof(Elf##bits##_Ehdr, e_phoff),		\
	  offsetof(Elf##bits##_Ehdr, e_phnum), offsetof(Elf##bits##_Ehdr, e_shoff),	\
	  offsetof(Elf##bits##_Ehdr, e_shnum), offsetof(Elf##bits##_Ehdr, e_shstrndx),	\
	  sizeof(Elf##bits##_Shdr), offsetof(Elf##bits##_Shdr, sh_flags),		\
	  offsetof(Elf##bits##_Shdr, sh_offset), offsetof(Elf##bits##_Shdr, sh_size),	\
	  offsetof(Elf##bits##_Shdr, sh_addralign), (bits) / 8 }

static const struct header_layout layouts[] = { LAYOUT(32), LAYOUT(64) };

struct copy {
	const struct header_layout *layout;
	enum pd_swap swap;
	struct pd_buf *out;
};

static void align_end(struct copy *c)
{
	static const uint8_t zeros[8];

	pd_buf_append(c->out, zeros, -c->out->size & 7);
}

static void set_section(const struct copy *c, uint8_t *header, uint32_t name, uint32_t type,
			uint64_t flags, uint64_t offset, uint64_t size)
{
	const unsigned int width = c->layout->width;

	pd_store(header + offsetof(Elf64_Shdr, sh_name), name, 4, c->swap);
	pd_store(header + offsetof(Elf64_Shdr, sh_type), type, 4, c->swap);
	pd_store(header + c->layout->flags, flags, width, c->swap);
	pd_store(header + c->layout->offset, offset, width, c->swap);
	pd_store(header + c->layout->bytes, size, width, c->swap);
	pd_store(header + c->layout->align, width, width, c->swap);
}

static void set_header(const struct copy *c, uint64_t sections)
{
	const struct header_layout *l = c->layout;
	uint8_t *header = c->out->data;

	pd_store(header + l->phoff, 0, l->width, c->swap);
	pd_store(header + l->phnum, 0, 2, c->swap);
	pd_store(header + l->shoff, sections, l->width, c->swap);
	pd_store(header + l->shnum, SECTIONS, 2, c->swap);
	pd_store(header + l->shstrndx, SECTIONS - 1, 2, c->swap);
}

/* The file's own header goes first: it has the machine, and the class that widths depend on. */
static void copy_section(struct copy *c, const struct ps_elf *file, const struct ps_section *s)
{
	const struct pd_bytes bytes = ps_elf_section_bytes(file, s);
	const size_t size = c->layout->section_size, name = strlen(s->name) + 1;
	size_t copied, names, headers;
	uint8_t *to;

	pd_buf_append(c->out, file->bytes.data, c->layout->size);
	align_end(c);
	copied = c->out->size;
	pd_buf_append(c->out, bytes.data, bytes.size);
	names = c->out->size;
	pd_buf_append(c->out, "", 1);
	pd_buf_append(c->out, s->name, name);
	align_end(c);
	headers = c->out->size;
	to = pd_buf_reserve(c->out, SECTIONS * size);
	if (!to)
		return;
	memset(to, 0, SECTIONS * size);
	set_section(c, to + size, 1, SHT_PROGBITS, s->header.sh_flags & SHF_COMPRESSED, copied,
		    bytes.size);
	set_section(c, to + 2 * size, 0, SHT_STRTAB, 0, names, 1 + name);
	c->out->size += SECTIONS * size;
	set_header(c, headers);
}

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
	struct copy c = { .out = &l->image };
	enum ps_status status;

	*l = (struct ps_lone_section){ .image.budget = budget,
					.arena.budget = budget, .budget = budget };
	if (!s || !ps_elf_section_bytes(file, s).size)
		return PS_NOT_ELF;
	c.layout = &layouts[file->bytes.data[EI_CLASS] == ELFCLASS64];
	c.swap = ps_elf_swap(file);
	copy_section(&c, file, s);
	status = l->image.failed ? PS_OVER_LIMIT : open_copy(l, s);
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
