/* section_image.c - see section_image.h. */
#include "image/section_image.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { SECTIONS = 3 };	/* the empty one, the copy, and that of the names */

/* Places of members in the headers of one class. */
struct header_layout {
	size_t size, phoff, phnum, shoff, shnum, shstrndx;
	size_t section_size, flags, addr, offset, bytes, align;
	unsigned int width;
};

#define LAYOUT(bits)									\
	{ sizeof(Elf##bits##_Ehdr), offsetof(Elf##bits##_Ehdr, e_phoff),		\
	  offsetof(Elf##bits##_Ehdr, e_phnum), offsetof(Elf##bits##_Ehdr, e_shoff),	\
	  offsetof(Elf##bits##_Ehdr, e_shnum), offsetof(Elf##bits##_Ehdr, e_shstrndx),	\
	  sizeof(Elf##bits##_Shdr), offsetof(Elf##bits##_Shdr, sh_flags),		\
	  offsetof(Elf##bits##_Shdr, sh_addr), offsetof(Elf##bits##_Shdr, sh_offset),	\
	  offsetof(Elf##bits##_Shdr, sh_size), offsetof(Elf##bits##_Shdr, sh_addralign),	\
	  (bits) / 8 }

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

static void write_headers(struct copy *c, const struct ps_section_image *s, size_t copied)
{
	const size_t size = c->layout->section_size, name = strlen(s->name) + 1;
	const size_t names = c->out->size;
	size_t headers;
	uint8_t *to;

	pd_buf_append(c->out, "", 1);
	pd_buf_append(c->out, s->name, name);
	align_end(c);
	headers = c->out->size;
	to = pd_buf_reserve(c->out, SECTIONS * size);
	if (!to)
		return;
	memset(to, 0, SECTIONS * size);
	set_section(c, to + size, 1, SHT_PROGBITS, s->flags, copied, s->bytes.size);
	pd_store(to + size + c->layout->addr, s->addr, c->layout->width, c->swap);
	set_section(c, to + 2 * size, 0, SHT_STRTAB, 0, names, 1 + name);
	c->out->size += SECTIONS * size;
	set_header(c, headers);
}

void ps_section_image_write(const struct ps_section_image *s, struct pd_buf *out)
{
	struct copy c = { &layouts[s->header[EI_CLASS] == ELFCLASS64], s->swap, out };
	size_t copied;

	pd_buf_append(out, s->header, c.layout->size);
	align_end(&c);
	copied = out->size;
	pd_buf_append(out, s->bytes.data, s->bytes.size);
	write_headers(&c, s, copied);
}
