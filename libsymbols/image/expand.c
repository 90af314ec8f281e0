/* expand.c - see expand.h. */
#include "image/expand.h"

#include <zstd.h>
#ifdef PD_LIBDEFLATE
#include <libdeflate.h>
#endif

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

#ifdef PD_LIBDEFLATE
static bool decode_zlib(struct pd_bytes from, uint8_t *to, size_t size)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	const bool is_whole = d && !libdeflate_zlib_decompress(d, from.data, from.size, to, size,
							       NULL);

	libdeflate_free_decompressor(d);
	return is_whole;
}
#endif

static bool decode_zstd(struct pd_bytes from, uint8_t *to, size_t size)
{
	return ZSTD_decompress(to, size, from.data, from.size) == size;
}

static const struct decoder {
	uint32_t type;
	/* Returns whether all of `to` was written. */
	bool (*decode)(struct pd_bytes from, uint8_t *to, size_t size);
} decoders[] = {
	{ ELFCOMPRESS_ZSTD, decode_zstd },
#ifdef PD_LIBDEFLATE
	{ ELFCOMPRESS_ZLIB, decode_zlib },
#endif
};

static const struct decoder *find_decoder(uint32_t type)
{
	for (size_t i = 0; i < sizeof(decoders) / sizeof(*decoders); i++)
		if (decoders[i].type == type)
			return &decoders[i];
	return NULL;
}

bool ps_can_expand(const GElf_Chdr *header)
{
	return find_decoder(header->ch_type) != NULL;
}

enum ps_status ps_expand(Elf *elf, Elf_Scn *section, const GElf_Chdr *header,
			 struct pd_arena *arena)
{
	const struct decoder *decoder = find_decoder(header->ch_type);
	const size_t start = gelf_fsize(elf, ELF_T_CHDR, 1, EV_CURRENT);
	const struct shown s = { elf_rawdata(section, NULL), elf_getdata(section, NULL) };
	GElf_Shdr changed;
	struct pd_bytes from;
	uint8_t *to;

	if (!decoder || !s.raw || !s.converted || !s.raw->d_buf || s.raw->d_size < start ||
	    !gelf_getshdr(section, &changed))
		return PS_BAD_FILE;
	from = (struct pd_bytes){ (const uint8_t *)s.raw->d_buf + start, s.raw->d_size - start };
	to = pd_arena_alloc(arena, header->ch_size);
	if (!to)
		return PS_OVER_LIMIT;
	if (!decoder->decode(from, to, header->ch_size))
		return PS_BAD_FILE;
	changed.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	changed.sh_size = header->ch_size;
	if (!gelf_update_shdr(section, &changed))
		return PS_BAD_FILE;
	show_bytes(&s, to, header->ch_size);
	return PS_OK;
}

enum ps_status ps_elf_expand(struct ps_elf *e, size_t index, const GElf_Chdr *header)
{
	Elf_Scn *section = elf_getscn(e->elf, index);
	struct ps_section *s = &e->sections[index];
	enum ps_status status;

	if (!section)
		return PS_BAD_FILE;
	status = ps_expand(e->elf, section, header, &e->arena);
	if (status == PS_OK) {
		s->header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
		s->expanded = (struct pd_bytes){ elf_rawdata(section, NULL)->d_buf,
						 header->ch_size };
	}
	return status;
}
