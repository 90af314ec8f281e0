/* expand.c - see expand.h. */
#include "image/expand.h"

#include <zstd.h>

/* The bytes that libelf returns for a section, in both of its forms. They are made from the bytes
 * in the file when they are first asked for. */
struct shown {
	Elf_Data *raw, *converted;
};

static void show_bytes(const struct shown *s, uint8_t *bytes, size_t size)
{
	s->raw->d_buf = s->converted->d_buf = bytes;
	s->raw->d_size = s->converted->d_size = size;
}

enum ps_status ps_expand_zstd(Elf *elf, Elf_Scn *section, const GElf_Chdr *header,
			      struct pd_arena *arena)
{
	const size_t start = gelf_fsize(elf, ELF_T_CHDR, 1, EV_CURRENT);
	const struct shown s = { elf_rawdata(section, NULL), elf_getdata(section, NULL) };
	GElf_Shdr changed;
	uint8_t *to;

	if (!s.raw || !s.converted || !s.raw->d_buf || s.raw->d_size < start ||
	    !gelf_getshdr(section, &changed))
		return PS_BAD_FILE;
	to = pd_arena_alloc(arena, header->ch_size);
	if (!to)
		return PS_OVER_LIMIT;
	if (ZSTD_decompress(to, header->ch_size, (const uint8_t *)s.raw->d_buf + start,
			    s.raw->d_size - start) != header->ch_size)
		return PS_BAD_FILE;
	changed.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	changed.sh_size = header->ch_size;
	if (!gelf_update_shdr(section, &changed))
		return PS_BAD_FILE;
	show_bytes(&s, to, header->ch_size);
	return PS_OK;
}

enum ps_status ps_elf_expand_zstd(struct ps_elf *e, size_t index, const GElf_Chdr *header)
{
	Elf_Scn *section = elf_getscn(e->elf, index);
	struct ps_section *s = &e->sections[index];
	enum ps_status status;

	if (!section)
		return PS_BAD_FILE;
	status = ps_expand_zstd(e->elf, section, header, &e->arena);
	if (status == PS_OK) {
		s->header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
		s->expanded = (struct pd_bytes){ elf_rawdata(section, NULL)->d_buf,
						 header->ch_size };
	}
	return status;
}
