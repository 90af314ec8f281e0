/* relocate.c - relocations of debug sections: see relocate.h. Only those that compilers use there,
 * which write the address of a symbol and nothing else; riscv adds two to what is there, for the
 * distance between them, as its linker makes code shorter. */
#include "debug/relocate.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE (1ull << 62)	/* above all addresses of an image */

/* glibc's since 2.40 */
#ifndef R_RISCV_SET_ULEB128
#define R_RISCV_SET_ULEB128 60
#define R_RISCV_SUB_ULEB128 61
#endif

enum { LEB_MOST = 10 };		/* bytes of a number */
enum { NAME_MOST = 1024 };	/* of a section; what comes after it is not compared */

/* The last two are of numbers of 7 bits a byte, which keep their length. */
enum how { WRITE, ADD, SUBTRACT, WRITE_LEB, SUBTRACT_LEB };

struct kind {
	uint16_t machine, type;
	uint8_t width;		/* bytes; 0: of thread-local variables, which are not looked up */
	uint8_t how;
	uint8_t kept;		/* upper bits of a byte that stay */
};

static const struct kind kinds[] = {
	{ EM_X86_64, R_X86_64_64, 8 }, { EM_X86_64, R_X86_64_32, 4 },
	{ EM_X86_64, R_X86_64_32S, 4 }, { EM_X86_64, R_X86_64_DTPOFF32, 0 },
	{ EM_X86_64, R_X86_64_DTPOFF64, 0 },
	{ EM_386, R_386_32, 4 }, { EM_386, R_386_TLS_LDO_32, 0 },
	{ EM_AARCH64, R_AARCH64_ABS64, 8 }, { EM_AARCH64, R_AARCH64_ABS32, 4 },
	{ EM_ARM, R_ARM_ABS32, 4 }, { EM_ARM, R_ARM_TLS_LDO32, 0 },
	{ EM_S390, R_390_64, 8 }, { EM_S390, R_390_32, 4 },
	{ EM_PPC64, R_PPC64_ADDR64, 8 }, { EM_PPC64, R_PPC64_ADDR32, 4 },
	{ EM_RISCV, R_RISCV_64, 8 }, { EM_RISCV, R_RISCV_32, 4 },
	{ EM_RISCV, R_RISCV_SET32, 4 }, { EM_RISCV, R_RISCV_SET16, 2 },
	{ EM_RISCV, R_RISCV_SET8, 1 }, { EM_RISCV, R_RISCV_SET6, 1, WRITE, 0xc0 },
	{ EM_RISCV, R_RISCV_ADD64, 8, ADD }, { EM_RISCV, R_RISCV_SUB64, 8, SUBTRACT },
	{ EM_RISCV, R_RISCV_ADD32, 4, ADD }, { EM_RISCV, R_RISCV_SUB32, 4, SUBTRACT },
	{ EM_RISCV, R_RISCV_ADD16, 2, ADD }, { EM_RISCV, R_RISCV_SUB16, 2, SUBTRACT },
	{ EM_RISCV, R_RISCV_ADD8, 1, ADD }, { EM_RISCV, R_RISCV_SUB8, 1, SUBTRACT },
	{ EM_RISCV, R_RISCV_SUB6, 1, SUBTRACT, 0xc0 },
	{ EM_RISCV, R_RISCV_SET_ULEB128, 1, WRITE_LEB },
	{ EM_RISCV, R_RISCV_SUB_ULEB128, 1, SUBTRACT_LEB },
	{ EM_RISCV, R_RISCV_TLS_DTPREL32, 0 }, { EM_RISCV, R_RISCV_TLS_DTPREL64, 0 },
};

/* A debug section, its relocations, and the symbols that they refer to. */
struct relocated {
	struct ps_elf *file;
	Elf_Data *relocations, *symbols, *to;
	bool has_addends;
};

/* All machines above number the relocation that does nothing 0. */
static const struct kind *find_kind(const struct ps_elf *file, uint64_t type)
{
	static const struct kind nothing = { 0, 0, 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].machine == file->header.e_machine && kinds[i].type == type)
			return &kinds[i];
	return type ? NULL : &nothing;
}

static bool get_relocation(const struct relocated *r, int i, GElf_Rela *out)
{
	GElf_Rel rel;

	if (r->has_addends)
		return gelf_getrela(r->relocations, i, out) != NULL;
	if (!gelf_getrel(r->relocations, i, &rel))
		return false;
	*out = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

static bool get_address(const struct relocated *r, uint64_t symbol, uint64_t *out)
{
	const struct ps_elf *file = r->file;
	GElf_Sym sym;

	if (symbol > INT32_MAX || !gelf_getsym(r->symbols, (int)symbol, &sym))
		return false;
	*out = sym.st_value;
	if (sym.st_shndx >= file->nr_sections)
		return sym.st_shndx == SHN_ABS || sym.st_shndx == SHN_COMMON;
	if (file->sections[sym.st_shndx].header.sh_flags & SHF_ALLOC)
		*out += file->sections[sym.st_shndx].addr;
	return true;
}

/* Where the distance fits, all that is lost of the addresses cancels out. */
static bool store_leb(uint8_t *at, size_t left, enum how how, uint64_t value)
{
	uint64_t old = 0;
	size_t n = 0;

	do {
		if (n == left || n == LEB_MOST)
			return false;
		old |= (uint64_t)(at[n] & 127) << 7 * n;
	} while (at[n++] & 128);
	value = how == WRITE_LEB ? value : old - value;
	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)((at[i] & 128) | (value >> 7 * i & 127));
	return true;
}

static bool apply_relocation(const struct relocated *r, const GElf_Rela *rela)
{
	const struct kind *kind = find_kind(r->file, GELF_R_TYPE(rela->r_info));
	const enum pd_swap swap = ps_elf_swap(r->file);
	uint64_t value, old;
	uint8_t *at;

	if (!kind || !kind->width)
		return kind != NULL;
	if (kind->width > r->to->d_size || rela->r_offset > r->to->d_size - kind->width ||
	    !get_address(r, GELF_R_SYM(rela->r_info), &value))
		return false;
	at = (uint8_t *)r->to->d_buf + rela->r_offset;
	if (kind->how >= WRITE_LEB)
		return store_leb(at, r->to->d_size - rela->r_offset, kind->how,
				 value + (uint64_t)rela->r_addend);
	old = pd_load(at, kind->width, swap);
	value += r->has_addends ? (uint64_t)rela->r_addend : old;
	value = kind->how == ADD ? old + value : kind->how == SUBTRACT ? old - value : value;
	pd_store(at, (old & kind->kept) | (value & ~(uint64_t)kind->kept), kind->width, swap);
	return true;
}

static bool is_debug(const struct ps_section *s)
{
	return s->name && !strncmp(s->name, ".debug_", 7) && s->header.sh_type != SHT_NOBITS &&
	       !(s->header.sh_flags & SHF_ALLOC);
}

/* Returns the section to which relocations apply, or NULL if it is no debug section. */
static const struct ps_section *target_of(const struct ps_elf *file, const struct ps_section *s)
{
	const uint64_t index = s->header.sh_info;

	if ((s->header.sh_type != SHT_RELA && s->header.sh_type != SHT_REL) || !index ||
	    index >= file->nr_sections || !is_debug(&file->sections[index]))
		return NULL;
	return &file->sections[index];
}

/* Returns the section's bytes as libdw will read them. */
static Elf_Data *open_target(struct ps_elf *file, const struct ps_section *s)
{
	Elf_Scn *section = elf_getscn(file->elf, (size_t)(s - file->sections));

	if (s->header.sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
		return NULL;
	return elf_rawdata(section, NULL);
}

static enum ps_status relocate_section(struct ps_elf *file, const struct ps_section *s,
				       const struct ps_section *target)
{
	struct relocated r = { .file = file, .has_addends = s->header.sh_type == SHT_RELA };
	GElf_Rela rela;

	if (s->header.sh_link >= file->nr_sections ||
	    file->sections[s->header.sh_link].header.sh_type != SHT_SYMTAB)
		return PS_BAD_FILE;
	r.relocations = ps_elf_section_data(file, s);
	r.symbols = ps_elf_section_data(file, &file->sections[s->header.sh_link]);
	if (!r.relocations || !r.symbols)
		return PS_OVER_LIMIT;
	r.to = open_target(file, target);
	if (!r.to || !r.to->d_buf)
		return PS_BAD_FILE;
	for (int i = 0; get_relocation(&r, i, &rela); i++)
		if (!apply_relocation(&r, &rela))
			return PS_BAD_FILE;
	return PS_OK;
}

enum ps_status ps_debug_relocate(struct ps_elf *file)
{
	enum ps_status status = PS_OK;

	if (!file->is_writable || file->is_relocated)
		return file->is_relocated ? PS_OK : PS_BAD_FILE;
	for (size_t i = 1; status == PS_OK && i < file->nr_sections; i++) {
		const struct ps_section *s = &file->sections[i], *target = target_of(file, s);

		if (target && s->header.sh_size)
			status = relocate_section(file, s, target);
	}
	file->is_relocated = status == PS_OK;
	file->is_writable = status == PS_OK;	/* not again: a part may be done */
	return status;
}

/* --- debug files --- */

/* The sections of a file that have a name, by it. */
struct by_name {
	const struct ps_section **items;
	size_t nr, capacity;
};

static int compare_names(const void *a, const void *b)
{
	const struct ps_section *const *x = a, *const *y = b;

	return strncmp((*x)->name, (*y)->name, NAME_MOST);
}

static bool sort_by_name(const struct ps_elf *file, struct by_name *out)
{
	*out = (struct by_name){ .capacity = file->nr_sections };
	out->items = pd_budget_alloc(file->budget, out->capacity * sizeof(struct ps_section *));
	for (size_t i = 1; out->items && i < file->nr_sections; i++)
		if (file->sections[i].name)
			out->items[out->nr++] = &file->sections[i];
	if (out->nr)
		qsort(out->items, out->nr, sizeof(struct ps_section *), compare_names);
	return out->items != NULL;
}

static void free_by_name(const struct ps_elf *file, struct by_name *s)
{
	pd_budget_free(file->budget, s->items, s->capacity * sizeof(struct ps_section *));
}

/* Returns the only section with the name and size of `like`, or NULL. */
static const struct ps_section *find_same(const struct by_name *s, const struct ps_section *like)
{
	size_t from = 0, n = s->nr;

	if (!like->name)
		return NULL;
	while (n) {
		const size_t half = n / 2;
		const bool is_less = compare_names(&s->items[from + half], &like) < 0;

		from += is_less ? half + 1 : 0;
		n = is_less ? n - half - 1 : half;
	}
	if (from == s->nr || compare_names(&s->items[from], &like) ||
	    (from + 1 < s->nr && !compare_names(&s->items[from + 1], &like)) ||
	    s->items[from]->header.sh_size != like->header.sh_size)
		return NULL;
	return s->items[from];
}

void ps_debug_take_addresses(struct ps_elf *debug, const struct ps_elf *image)
{
	struct by_name mine = { .items = NULL }, theirs = { .items = NULL };
	bool is_sorted;

	if (debug->header.e_type != ET_REL)
		return;
	is_sorted = sort_by_name(debug, &mine) && sort_by_name(image, &theirs);
	for (size_t i = 1; i < debug->nr_sections; i++) {
		struct ps_section *s = &debug->sections[i];
		const struct ps_section *same;

		if (!(s->header.sh_flags & SHF_ALLOC))
			continue;
		same = is_sorted && find_same(&mine, s) ? find_same(&theirs, s) : NULL;
		s->addr = same ? same->addr : NOWHERE;
	}
	free_by_name(debug, &mine);
	free_by_name(image, &theirs);
}
