/* event_elf.c - find a function in an ELF file, as a probe needs it: by its place in the file. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "event/event_kinds.h"

#define BYTES_MOST (1u << 30)		/* of all tables together */

struct elf {
	int fd;
	uint64_t budget;		/* bytes that may still be read */
	ElfW(Ehdr) header;
	ElfW(Shdr) *sections;
	ElfW(Phdr) *segments;
};

/* size bytes at offset, for free(); NULL: not there, or over the budget. */
static void *read_part(struct elf *e, uint64_t offset, uint64_t size)
{
	void *part = size && size <= e->budget && offset <= INT64_MAX ? malloc(size) : NULL;

	e->budget -= part ? size : 0;
	if (part && pread(e->fd, part, size, (off_t)offset) == (ssize_t)size)
		return part;
	free(part);
	return NULL;
}

static bool elf_open(struct elf *e, const char *path)
{
	const ElfW(Ehdr) *h = &e->header;

	e->fd = open_regular(AT_FDCWD, path, NULL);
	if (e->fd < 0 || pread(e->fd, &e->header, sizeof(*h), 0) != sizeof(*h) ||
	    memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
	    h->e_ident[EI_CLASS] != (sizeof(long) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    h->e_shentsize != sizeof(*e->sections) || h->e_phentsize != sizeof(*e->segments))
		return false;
	e->sections = read_part(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof(*e->sections));
	e->segments = read_part(e, h->e_phoff, (uint64_t)h->e_phnum * sizeof(*e->segments));
	return e->sections && e->segments;
}

static void elf_close(struct elf *e)
{
	if (e->fd >= 0)
		close(e->fd);
	free(e->sections);
	free(e->segments);
}

static bool find_in(struct elf *e, const ElfW(Shdr) *table, const char *name, uint64_t *value)
{
	const ElfW(Shdr) *text;
	ElfW(Sym) *symbols;
	char *names;
	size_t n = table->sh_size / sizeof(*symbols), size = strlen(name) + 1;
	bool found = false;

	if (table->sh_link >= e->header.e_shnum)
		return false;
	text = &e->sections[table->sh_link];
	symbols = read_part(e, table->sh_offset, table->sh_size);
	names = read_part(e, text->sh_offset, text->sh_size);
	for (size_t i = 0; symbols && names && i < n && !found; i++) {
		if (symbols[i].st_shndx == SHN_UNDEF || symbols[i].st_name >= text->sh_size ||
		    text->sh_size - symbols[i].st_name < size ||
		    memcmp(names + symbols[i].st_name, name, size) != 0)
			continue;
		*value = symbols[i].st_value;
		found = true;
	}
	free(symbols);
	free(names);
	return found;
}

static bool to_offset(const struct elf *e, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < e->header.e_phnum; i++) {
		const ElfW(Phdr) *p = &e->segments[i];

		if (p->p_type != PT_LOAD || address < p->p_vaddr ||
		    address - p->p_vaddr >= p->p_filesz)
			continue;
		*offset = address - p->p_vaddr + p->p_offset;
		return true;
	}
	return false;
}

bool elf_symbol_offset(const char *path, const char *symbol, uint64_t *offset)
{
	struct elf e = { .fd = -1, .budget = BYTES_MOST };
	bool found = false;
	uint64_t address = 0;

	if (elf_open(&e, path)) {
		for (size_t i = 0; i < e.header.e_shnum && !found; i++) {
			uint32_t type = e.sections[i].sh_type;

			found = (type == SHT_SYMTAB || type == SHT_DYNSYM) &&
				find_in(&e, &e.sections[i], symbol, &address);
		}
		found = found && to_offset(&e, address, offset);
	}
	elf_close(&e);
	return found;
}
