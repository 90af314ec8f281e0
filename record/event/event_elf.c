/* event_elf.c - find the file offset of a function in an ELF file, for a probe. */
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "event/event_kinds.h"

#define BYTES_MOST (1u << 30)		/* of all tables together */

/* libelf allocates a descriptor for each section when it opens a file. A number of sections that is
 * not in the header can be as large as 2^32: such files are refused. */
static bool states_section_count(int fd)
{
	_Alignas(Elf64_Ehdr) char start[sizeof(Elf64_Ehdr)];
	GElf_Ehdr header;
	Elf *e = NULL;
	bool stated;

	if (pread(fd, start, sizeof(start), 0) == sizeof(start))
		e = elf_memory(start, sizeof(start));
	stated = e && gelf_getehdr(e, &header) && header.e_shnum;
	elf_end(e);
	return stated;
}

static bool charge_budget(uint64_t *budget, uint64_t size)
{
	if (size > *budget)
		return false;
	*budget -= size;
	return true;
}

static bool find_in_table(Elf *e, Elf_Scn *section, uint64_t *budget, const char *name,
			  uint64_t *address)
{
	GElf_Shdr table, text;
	Elf_Data *symbols;
	GElf_Sym s;

	if (!gelf_getshdr(section, &table) ||
	    (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) ||
	    !gelf_getshdr(elf_getscn(e, table.sh_link), &text) ||
	    !charge_budget(budget, table.sh_size) || !charge_budget(budget, text.sh_size))
		return false;
	symbols = elf_getdata(section, NULL);
	for (int i = 0; gelf_getsym(symbols, i, &s); i++) {
		const char *other = s.st_shndx == SHN_UNDEF ? NULL :
				    elf_strptr(e, table.sh_link, s.st_name);

		if (!other || strcmp(other, name) != 0)
			continue;
		*address = s.st_value;
		return true;
	}
	return false;
}

static bool address_to_offset(Elf *e, uint64_t *budget, uint64_t address, uint64_t *offset)
{
	GElf_Phdr p;
	size_t n;

	if (elf_getphdrnum(e, &n) || n > *budget / sizeof(p))
		return false;
	for (int i = 0; gelf_getphdr(e, i, &p); i++) {
		if (p.p_type != PT_LOAD || address < p.p_vaddr || address - p.p_vaddr >= p.p_filesz)
			continue;
		*offset = address - p.p_vaddr + p.p_offset;
		return true;
	}
	return false;
}

bool elf_symbol_offset(const char *path, const char *symbol, uint64_t *offset)
{
	int fd = open_regular(AT_FDCWD, path, NULL);
	uint64_t budget = BYTES_MOST, address = 0;
	bool found = false;
	Elf *e = NULL;

	elf_version(EV_CURRENT);
	if (fd >= 0 && states_section_count(fd))
		e = elf_begin(fd, ELF_C_READ, NULL);
	for (Elf_Scn *s = elf_nextscn(e, NULL); s && !found; s = elf_nextscn(e, s))
		found = find_in_table(e, s, &budget, symbol, &address);
	found = found && address_to_offset(e, &budget, address, offset);
	elf_end(e);
	if (fd >= 0)
		close(fd);
	return found;
}
