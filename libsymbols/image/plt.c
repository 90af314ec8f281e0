/* plt.c - the PLT has no symbols: an entry's name is that of the relocation of the word through
 * which the entry jumps. So it does not matter in which order a linker writes entries. */
#include "image/plt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "image/elf_symbols.h"

static const char suffix[] = "@plt";

/* musl's elf.h lacks it; "ELF for the Arm 64-bit Architecture", 5.7.12. */
#ifndef R_AARCH64_IRELATIVE
#define R_AARCH64_IRELATIVE 1032
#endif

struct plt {
	struct ps_elf *e, *debug;	/* debug: may have more symbols */
	struct pd_map targets;		/* address of a word -> name of its symbol */
	struct pd_arena *names;
	struct ps_symtab *t;
	struct ps_symtab chosen;	/* by the address of the function that chooses */
	bool tried_chosen;
	uint64_t left;			/* bytes of sections that may still be read */
	uint64_t got;			/* to which i386 entries are relative */
};

/* --- relocations --- */

static bool get_relocation(Elf_Data *data, int i, uint32_t type, GElf_Rela *out)
{
	GElf_Rel rel;

	if (type == SHT_RELA)
		return gelf_getrela(data, i, out) != NULL;
	if (!gelf_getrel(data, i, &rel))
		return false;
	*out = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

static bool is_chosen_at_start(const struct plt *p, const GElf_Rela *r)
{
	switch (p->e->header.e_machine) {
	case EM_X86_64:
		return GELF_R_TYPE(r->r_info) == R_X86_64_IRELATIVE;
	case EM_AARCH64:
		return GELF_R_TYPE(r->r_info) == R_AARCH64_IRELATIVE;
	case EM_386:
		return GELF_R_TYPE(r->r_info) == R_386_IRELATIVE;
	default:
		return false;
	}
}

/* Finds the address of a function that chooses another one when the program starts. i386 has it in
 * the word itself. */
static bool find_chooser(const struct plt *p, const GElf_Rela *r, uint64_t *out)
{
	const struct pd_bytes all = p->e->bytes;
	uint64_t at;

	*out = (uint64_t)r->r_addend;
	if (p->e->header.e_machine != EM_386)
		return true;
	if (!ps_elf_offset(p->e, r->r_offset, &at) || at >= all.size || all.size - at < 4)
		return false;
	*out = pd_load32(all.data + at, ps_elf_swap(p->e));
	return true;
}

static void read_chosen(struct plt *p)
{
	p->tried_chosen = true;
	ps_elf_add_symbols(p->e, SHT_SYMTAB, PS_CHOSEN, PS_FROM_SYMTAB, &p->chosen);
	if (p->debug->elf)
		ps_elf_add_symbols(p->debug, SHT_SYMTAB, PS_CHOSEN, PS_FROM_SYMTAB, &p->chosen);
	ps_elf_add_symbols(p->e, SHT_DYNSYM, PS_CHOSEN, PS_FROM_DYNSYM, &p->chosen);
	if (ps_symtab_seal(&p->chosen))
		ps_symtab_free(&p->chosen);
}

/* Names the chosen function. Without a symbol, the file only has the other one's address: objdump
 * and perf show it so. */
static const char *name_chosen(struct plt *p, const GElf_Rela *r)
{
	struct ps_symbol symbol;
	char name[32];
	uint64_t chooser;
	int n;

	if (!find_chooser(p, r, &chooser))
		return NULL;
	if (!p->tried_chosen)
		read_chosen(p);
	if (ps_symtab_find(&p->chosen, chooser, &symbol) && symbol.start == chooser)
		return symbol.name;
	n = snprintf(name, sizeof(name), "*ABS*+0x%" PRIx64, chooser);
	return pd_arena_text(p->names, name, (size_t)n);
}

static const char *name_target(struct plt *p, const GElf_Rela *r, Elf_Data *symbols,
			       const struct ps_names *names)
{
	const uint64_t index = GELF_R_SYM(r->r_info);
	GElf_Sym sym;

	if (is_chosen_at_start(p, r))
		return name_chosen(p, r);
	if (!symbols || !index || index > INT32_MAX || !gelf_getsym(symbols, (int)index, &sym))
		return NULL;
	return ps_elf_name(names, sym.st_name);
}

/* A static program has only those of functions that are chosen. */
static void read_relocations(struct plt *p, const struct ps_section *s)
{
	const uint32_t link = s->header.sh_link;
	Elf_Data *data = ps_elf_section_data(p->e, s), *symbols = NULL;
	struct ps_names names = { NULL, 0 };
	GElf_Rela rela;

	if (link < p->e->nr_sections && p->e->sections[link].header.sh_type == SHT_DYNSYM) {
		symbols = ps_elf_section_data(p->e, &p->e->sections[link]);
		names = ps_elf_names(p->e, p->e->sections[link].header.sh_link);
	}
	for (int i = 0; data && get_relocation(data, i, s->header.sh_type, &rela); i++) {
		const char *name = name_target(p, &rela, symbols, &names);

		if (name && name[0] && pd_map_add(&p->targets, rela.r_offset, (void *)name) < 0)
			return;
	}
}

/* --- entries --- */

/* Returns the length of an x86 entry's `jmp *(word)` and of what precedes it, and the word's
 * address; 0 if the bytes are something else. */
static size_t decode_x86(const struct plt *p, struct pd_bytes code, uint64_t address,
			 uint64_t *word)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa },
			     endbr32[] = { 0xf3, 0x0f, 0x1e, 0xfb };
	const bool wide = p->e->header.e_machine == EM_X86_64;
	size_t at = 0;
	uint32_t value;

	if (code.size >= 12 && !memcmp(code.data, wide ? endbr64 : endbr32, sizeof(endbr64)))
		at += sizeof(endbr64);
	if (code.size > at && code.data[at] == 0xf2)	/* bnd */
		at++;
	if (code.size < at + 6 || code.data[at] != 0xff ||
	    (code.data[at + 1] != 0x25 && code.data[at + 1] != 0xa3))
		return 0;
	value = pd_load32(code.data + at + 2, ps_elf_swap(p->e));
	if (wide)
		*word = address + at + 6 + (uint64_t)(int64_t)(int32_t)value;
	else
		*word = code.data[at + 1] == 0xa3 ? (uint32_t)(p->got + value) : value;
	return at + 6;
}

/* [bti c;] adrp x16, page; ldr x17, [x16, #offset] */
static size_t decode_aarch64(const struct plt *p, struct pd_bytes code, uint64_t address,
			     uint64_t *word)
{
	struct pd_cursor c = pd_cursor(code, ps_elf_swap(p->e));
	uint64_t adrp, ldr;
	int64_t page;

	if (!pd_take_number(&c, 4, &adrp))
		return 0;
	if (adrp == 0xd503245f)
		pd_take_number(&c, 4, &adrp);
	if (!pd_take_number(&c, 4, &ldr) || (adrp & 0x9f00001f) != 0x90000010 ||
	    (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (int32_t)((uint32_t)(adrp >> 5 & 0x7ffff) << 13) >> 13;
	page = page * 4 + (int64_t)(adrp >> 29 & 3);
	*word = (address & ~0xfffull) + (uint64_t)page * 4096 + (ldr >> 10 & 0xfff) * 8;
	return code.size - pd_left(&c);
}

/* The code that other entries jump to until the dynamic linker has found their functions: by its
 * name of perf since 6.3. It pushes. Returns its size, 0 if the section begins with another
 * entry. */
static uint64_t add_first(struct plt *p, const struct ps_section *section)
{
	static const char name[] = ".plt";
	const bool aarch64 = p->e->header.e_machine == EM_AARCH64;
	const struct pd_bytes code = ps_elf_section_bytes(p->e, section);
	const uint64_t size = aarch64 ? PS_PLT_ARM_FIRST : 16;
	const struct ps_symbol s = { .start = section->addr,
				     .end = section->addr + size,
				     .source = PS_FROM_PLT,
				     .binding = PS_GLOBAL,
				     .name = name,
				     .name_size = sizeof(name) - 1 };

	if (strcmp(section->name, name) != 0 || code.size < size)
		return 0;
	if (aarch64 ? pd_load32(code.data, ps_elf_swap(p->e)) != PS_PLT_ARM_PUSH :
		      code.data[0] != 0xff || (code.data[1] != 0x35 && code.data[1] != 0xb3))
		return 0;
	ps_symtab_add(p->t, &s, 0);
	return size;
}

static bool add_entry(struct plt *p, uint64_t start, uint64_t size, const char *target)
{
	const size_t n = strnlen(target, PS_NAME_READ);
	struct ps_symbol s = { .start = start,
			       .end = start + size,
			       .source = PS_FROM_PLT,
			       .binding = PS_GLOBAL,
			       .name_size = (uint32_t)(n + sizeof(suffix) - 1) };
	char *name = pd_arena_alloc(p->names, n + sizeof(suffix));

	if (!name)
		return false;
	memcpy(name, target, n);
	memcpy(name + n, suffix, sizeof(suffix));
	s.name = name;
	ps_symtab_add(p->t, &s, 0);
	return true;
}

/* An x86 entry of 8 bytes: the jump, and what fills it up. */
static bool is_short(struct pd_bytes code, size_t n)
{
	return n == 6 && code.size >= 8 && code.data[6] == 0x66 && code.data[7] == 0x90;
}

/* Sections do not overlap: all of them have no more bytes than the file. */
static bool is_read(struct plt *p, const struct ps_section *s)
{
	if (s->header.sh_size > p->left)
		return false;
	p->left -= s->header.sh_size;
	return true;
}

static void read_entries(struct plt *p, const struct ps_section *s, uint64_t step)
{
	const struct pd_bytes all = ps_elf_section_bytes(p->e, s);
	const bool aarch64 = p->e->header.e_machine == EM_AARCH64;

	for (uint64_t at = add_first(p, s), size; at < all.size; at += size) {
		const struct pd_bytes code = { all.data + at, all.size - at };
		const uint64_t address = s->addr + at;
		const char *target;
		uint64_t word;
		size_t n;

		n = aarch64 ? decode_aarch64(p, code, address, &word) :
			      decode_x86(p, code, address, &word);
		target = n ? pd_map_find(&p->targets, word) : NULL;
		size = aarch64 ? (n == 12 ? 24 : 16) : is_short(code, n) ? 8 : 16;
		if (target && !add_entry(p, address, size < code.size ? size : code.size, target))
			return;
		size = target && aarch64 ? size : step;	/* its bti c is part of it */
	}
}

static void read_section(struct plt *p, const struct ps_section *s)
{
	const uint64_t stated = s->header.sh_entsize;

	if (p->e->header.e_machine == EM_AARCH64)
		read_entries(p, s, 4);
	else
		read_entries(p, s, stated == 16 ? 16 : 8);
}

bool ps_elf_is_plt(const struct ps_section *s)
{
	return s->name && s->header.sh_type == SHT_PROGBITS &&
	       (!strcmp(s->name, ".plt") || !strcmp(s->name, ".plt.sec") ||
		!strcmp(s->name, ".plt.got") || !strcmp(s->name, ".plt.bnd") ||
		!strcmp(s->name, ".iplt"));
}

static bool has_plt(const struct ps_elf *e)
{
	for (size_t i = 1; i < e->nr_sections; i++)
		if (ps_elf_is_plt(&e->sections[i]))
			return true;
	return false;
}

void ps_elf_add_plt(struct ps_elf *e, struct ps_elf *debug, struct pd_arena *names,
		    struct ps_symtab *t)
{
	struct plt p = { .e = e, .debug = debug, .targets.budget = e->budget,
			 .chosen.budget = e->budget, .names = names, .t = t,
			 .left = e->bytes.size };
	const struct ps_section *got;

	if ((e->header.e_machine != EM_X86_64 && e->header.e_machine != EM_386 &&
	     e->header.e_machine != EM_AARCH64) ||
	    e->header.e_ident[EI_DATA] != ELFDATA2LSB || !has_plt(e))
		return;
	got = ps_elf_section_named(e, ".got.plt");
	got = got ? got : ps_elf_section_named(e, ".got");
	p.got = got ? got->addr : 0;
	for (size_t i = 1; i < e->nr_sections; i++)
		if ((e->sections[i].header.sh_type == SHT_RELA ||
		     e->sections[i].header.sh_type == SHT_REL) && is_read(&p, &e->sections[i]))
			read_relocations(&p, &e->sections[i]);
	for (size_t i = 1; i < e->nr_sections; i++)
		if (ps_elf_is_plt(&e->sections[i]) && is_read(&p, &e->sections[i]))
			read_section(&p, &e->sections[i]);
	pd_map_free(&p.targets);
	ps_symtab_free(&p.chosen);
}
