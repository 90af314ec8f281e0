/* elf_symbols.c - the functions and variables of .symtab and .dynsym. */
#include "image/elf_symbols.h"

#include <string.h>

#include "base/cursor.h"

struct ps_names ps_elf_names(const struct ps_elf *e, size_t section)
{
	struct pd_bytes b;
	const uint8_t *nul;

	if (section >= e->nr_sections || e->sections[section].header.sh_type != SHT_STRTAB)
		return (struct ps_names){ NULL, 0 };
	b = ps_elf_section_bytes(e, &e->sections[section]);
	nul = b.size ? memrchr(b.data, 0, b.size) : NULL;
	return (struct ps_names){ (const char *)b.data, nul ? (size_t)(nul - b.data) + 1 : 0 };
}

const char *ps_elf_name(const struct ps_names *names, uint64_t offset)
{
	return offset < names->end ? names->data + offset : NULL;
}

/* Marks for disassemblers where code and data begin: "$a", "$x.1". Labels of the assembler, such as
 * ".L0 ", are left where relocations of riscv refer to them. */
static bool is_mark(const struct ps_elf *e, const char *name)
{
	if (name[0] == '.' && name[1] == 'L')
		return true;
	switch (e->header.e_machine) {
	case EM_ARM:
	case EM_AARCH64:
	case EM_RISCV:
		return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
		       (e->header.e_machine == EM_RISCV || !name[2] || name[2] == '.');
	default:
		return false;
	}
}

/* Returns the section of a symbol that is a function, or NULL. */
static const struct ps_section *section_of_function(const struct ps_elf *e, const GElf_Sym *sym)
{
	const unsigned int type = GELF_ST_TYPE(sym->st_info);
	const struct ps_section *s;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= e->nr_sections ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return NULL;
	s = &e->sections[sym->st_shndx];
	if (!(s->header.sh_flags & SHF_ALLOC) ||
	    (type == STT_NOTYPE && !(s->header.sh_flags & SHF_EXECINSTR)))
		return NULL;
	return s;
}

/* Returns the section of a symbol that is a variable, or NULL. Those of threads have no address,
 * and those without a size only mark a place. */
static const struct ps_section *section_of_variable(const struct ps_elf *e, const GElf_Sym *sym)
{
	const struct ps_section *s;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= e->nr_sections || !sym->st_size ||
	    GELF_ST_TYPE(sym->st_info) != STT_OBJECT)
		return NULL;
	s = &e->sections[sym->st_shndx];
	return s->header.sh_flags & SHF_ALLOC && !(s->header.sh_flags & SHF_TLS) ? s : NULL;
}

static const struct ps_section *section_of(const struct ps_elf *e, const GElf_Sym *sym,
					   enum ps_symbols_of of)
{
	if (of == PS_VARIABLES)
		return section_of_variable(e, sym);
	if (of == PS_CHOSEN && GELF_ST_TYPE(sym->st_info) != STT_GNU_IFUNC)
		return NULL;
	return section_of_function(e, sym);
}

/* The symbols of 64-bit PowerPC's first ABI name descriptors, whose first word is the address. */
static bool follow_descriptor(const struct ps_elf *e, const struct ps_section *s, uint64_t *address)
{
	const struct pd_bytes b = ps_elf_section_bytes(e, s);
	const uint64_t offset = *address - s->addr;

	if (b.size < 8 || offset > b.size - 8)
		return false;
	*address = pd_load64(b.data + offset, ps_elf_swap(e));
	return true;
}

static enum ps_binding binding_of(const GElf_Sym *sym)
{
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_LOCAL:
		return PS_LOCAL;
	case STB_WEAK:
		return PS_WEAK;
	default:
		return PS_GLOBAL;
	}
}

static void add_symbol(const struct ps_elf *e, const GElf_Sym *sym, enum ps_symbols_of of,
		       struct ps_symbol *to, struct ps_symtab *t)
{
	const struct ps_section *s = section_of(e, sym, of);
	uint64_t start = sym->st_value, limit;

	if (!s || !to->name[0] || is_mark(e, to->name))
		return;
	if (e->header.e_type == ET_REL)
		start += s->addr;
	if (e->header.e_machine == EM_ARM && GELF_ST_TYPE(sym->st_info) == STT_FUNC)
		start &= ~1ull;
	limit = s->addr + s->header.sh_size;
	if (e->header.e_machine == EM_PPC64 && s->name && !strcmp(s->name, ".opd")) {
		if (!follow_descriptor(e, s, &start))
			return;
		limit = 0;
	}
	to->start = start;
	to->end = start + sym->st_size;
	to->name_size = (uint32_t)strnlen(to->name, PS_NAME_READ);
	to->binding = (uint8_t)binding_of(sym);
	ps_symtab_add(t, to, limit);
}

/* Returns the symbols of a section of that type, and sets *names; NULL if there is none. */
static Elf_Data *open_symbols(struct ps_elf *e, uint32_t type, struct ps_names *names)
{
	const struct ps_section *section = ps_elf_section_of_type(e, type);
	Elf_Data *data = section ? ps_elf_section_data(e, section) : NULL;

	if (data)
		*names = ps_elf_names(e, section->header.sh_link);
	return data;
}

bool ps_elf_add_symbols(struct ps_elf *e, uint32_t type, enum ps_symbols_of of,
			enum ps_source source, struct ps_symtab *t)
{
	struct ps_names names;
	Elf_Data *data = open_symbols(e, type, &names);
	GElf_Sym sym;

	if (!data)
		return false;
	for (int i = 1; gelf_getsym(data, i, &sym); i++) {
		struct ps_symbol to = { .name = ps_elf_name(&names, sym.st_name),
					.source = (uint8_t)source };

		if (to.name)
			add_symbol(e, &sym, of, &to, t);
	}
	return true;
}

static bool is_named(const char *name, struct pd_bytes wanted)
{
	return name && strnlen(name, wanted.size + 1) == wanted.size &&
	       !memcmp(name, wanted.data, wanted.size);
}

bool ps_elf_only_function(struct ps_elf *e, struct pd_bytes name, uint64_t *start, uint64_t *end)
{
	struct ps_names names;
	Elf_Data *data = open_symbols(e, SHT_SYMTAB, &names);
	unsigned int found = 0;
	GElf_Sym sym;

	for (int i = 1; data && gelf_getsym(data, i, &sym); i++) {
		const struct ps_section *s;

		if (!is_named(ps_elf_name(&names, sym.st_name), name))
			continue;
		s = section_of_function(e, &sym);
		if (!s)
			continue;
		found++;
		*start = sym.st_value + (e->header.e_type == ET_REL ? s->addr : 0);
		*end = *start + sym.st_size;
	}
	return found == 1 && *end > *start;
}

bool ps_elf_symbol_value(struct ps_elf *e, const char *name, uint64_t *value)
{
	struct ps_names names;
	Elf_Data *data = open_symbols(e, SHT_SYMTAB, &names);
	GElf_Sym sym;

	if (!data)
		return false;
	for (int i = 1; gelf_getsym(data, i, &sym); i++) {
		const char *own = ps_elf_name(&names, sym.st_name);

		if (!own || sym.st_shndx == SHN_UNDEF || strcmp(own, name) != 0)
			continue;
		*value = sym.st_value;
		return true;
	}
	return false;
}
