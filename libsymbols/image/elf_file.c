/* elf_file.c - one ELF file: see elf_file.h. */
#include "image/elf_file.h"

#include <elfutils/libdwelf.h>
#include <stddef.h>
#include <string.h>

#include "image/refused.h"

#define BUILD_ID_MAX 64
#define LIBELF_SECTION 256	/* bytes that libelf allocates for each section, rounded up */
#define PROGRAM_HEADERS 65536	/* bytes; the kernel executes no file with more */

/* --- before libelf sees the file --- */

/* Places of two members of a header of one class. */
struct header_layout {
	size_t size, shoff, shnum, section_size;
	unsigned int offset_width;
};

static const struct header_layout layouts[] = {
	{ sizeof(Elf32_Ehdr), offsetof(Elf32_Ehdr, e_shoff), offsetof(Elf32_Ehdr, e_shnum),
	  sizeof(Elf32_Shdr), 4 },
	{ sizeof(Elf64_Ehdr), offsetof(Elf64_Ehdr, e_shoff), offsetof(Elf64_Ehdr, e_shnum),
	  sizeof(Elf64_Shdr), 8 },
};

static bool is_elf(struct pd_bytes b)
{
	return b.size > EI_NIDENT && !memcmp(b.data, ELFMAG, SELFMAG) &&
	       (b.data[EI_CLASS] == ELFCLASS32 || b.data[EI_CLASS] == ELFCLASS64) &&
	       (b.data[EI_DATA] == ELFDATA2LSB || b.data[EI_DATA] == ELFDATA2MSB);
}

static enum pd_swap swap_of(struct pd_bytes b)
{
	const bool big = b.data[EI_DATA] == ELFDATA2MSB;

	return big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? PD_SWAP_NO : PD_SWAP_YES;
}

/* libelf allocates a descriptor for each section when it opens a file, so the number is checked
 * first. A number that does not fit into the header (more than 65,279 sections) is refused: no
 * linked file has it. Returns false if the sections can't be in the file. */
static bool count_sections(struct pd_bytes b, size_t *n)
{
	const struct header_layout *l = &layouts[b.data[EI_CLASS] == ELFCLASS64];
	uint64_t offset;

	if (b.size < l->size)
		return false;
	offset = pd_load(b.data + l->shoff, l->offset_width, swap_of(b));
	*n = pd_load16(b.data + l->shnum, swap_of(b));
	if (!*n)
		return offset == 0;
	return offset < b.size && *n <= (b.size - offset) / l->section_size;
}

/* --- reading --- */

static enum ps_status read_segments(struct ps_elf *e)
{
	size_t n;

	if (elf_getphdrnum(e->elf, &n) ||
	    n > PROGRAM_HEADERS / gelf_fsize(e->elf, ELF_T_PHDR, 1, EV_CURRENT))
		return PS_BAD_FILE;
	e->segments = pd_budget_alloc(e->budget, n * sizeof(*e->segments));
	if (!e->segments)
		return PS_OVER_LIMIT;
	e->segment_capacity = n;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_LOAD || !p.p_memsz)
			continue;
		e->segments[e->nr_segments++] = (struct ps_segment){
			p.p_offset, p.p_vaddr, p.p_filesz, p.p_memsz, p.p_flags };
	}
	return PS_OK;
}

/* Relocatable files, and files that `perf inject` makes of JIT code, have no segments. */
static uint64_t address_of_section(const struct ps_elf *e, const GElf_Shdr *s)
{
	return e->header.e_type == ET_REL ? s->sh_offset : s->sh_addr;
}

static enum ps_status read_sections(struct ps_elf *e, size_t n)
{
	struct pd_bytes names;
	size_t names_index;
	Elf_Scn *section = NULL;

	e->sections = pd_budget_alloc(e->budget, n * sizeof(*e->sections));
	if (!e->sections)
		return PS_OVER_LIMIT;
	e->nr_sections = n;
	for (size_t i = 1; i < n && (section = elf_nextscn(e->elf, section)); i++) {
		struct ps_section *s = &e->sections[i];

		if (!gelf_getshdr(section, &s->header))
			return PS_BAD_FILE;
		s->addr = address_of_section(e, &s->header);
	}
	if (!n || elf_getshdrstrndx(e->elf, &names_index) || names_index >= n)
		return PS_OK;
	names = ps_elf_section_bytes(e, &e->sections[names_index]);
	if (!names.size || names.data[names.size - 1])
		return PS_OK;
	for (size_t i = 1; i < n; i++)
		if (e->sections[i].header.sh_name < names.size)
			e->sections[i].name = (const char *)names.data +
					      e->sections[i].header.sh_name;
	return PS_OK;
}

static bool is_in_memory(const struct ps_section *s)
{
	return s->header.sh_flags & SHF_ALLOC && s->header.sh_type != SHT_NOBITS;
}

/* Where sections overlap, the first one counts. */
static enum ps_status index_offsets(struct ps_elf *e)
{
	struct ps_range *ranges = pd_budget_alloc(e->budget, e->nr_sections * sizeof(*ranges));
	size_t n = 0;
	int ret;

	if (!ranges)
		return PS_OVER_LIMIT;
	for (size_t i = 1; i < e->nr_sections; i++) {
		const GElf_Shdr *h = &e->sections[i].header;

		if (is_in_memory(&e->sections[i]) && h->sh_size <= UINT64_MAX - h->sh_offset)
			ranges[n++] = (struct ps_range){ h->sh_offset, h->sh_offset + h->sh_size,
							 (uint32_t)(e->nr_sections - i) };
	}
	e->by_offset.budget = e->budget;
	ret = ps_flat_build(&e->by_offset, ranges, n);
	pd_budget_free(e->budget, ranges, e->nr_sections * sizeof(*ranges));
	return ret ? PS_OVER_LIMIT : PS_OK;
}

static bool is_loaded_code(const struct ps_section *s)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;

	return (s->header.sh_flags & flags) == flags && s->header.sh_size &&
	       !(s->name && strncmp(s->name, ".init", 5) == 0);
}

static void find_module_text(struct ps_elf *e)
{
	size_t i = 1;

	while (i < e->nr_sections && !is_loaded_code(&e->sections[i]))
		i++;
	if (e->header.e_type == ET_REL && i < e->nr_sections && e->sections[i].name &&
	    strcmp(e->sections[i].name, ".text") == 0 &&
	    e->sections[i].header.sh_type == SHT_PROGBITS)
		e->module_text = i;
}

static void read_build_id(struct ps_elf *e)
{
	const void *id = NULL;
	const ssize_t size = dwelf_elf_gnu_build_id(e->elf, &id);

	if (size > 0 && size <= BUILD_ID_MAX)
		e->build_id = (struct pd_bytes){ id, (size_t)size };
}

static enum ps_status read_headers(struct ps_elf *e, size_t nr_sections)
{
	enum ps_status status;

	elf_version(EV_CURRENT);
	e->elf = elf_memory((char *)e->bytes.data, e->bytes.size);
	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &e->header))
		return PS_NOT_ELF;
	status = read_segments(e);
	if (status == PS_OK)
		status = read_sections(e, nr_sections);
	if (status == PS_OK && !e->nr_segments && e->nr_sections)
		status = index_offsets(e);
	if (status != PS_OK)
		return status;
	find_module_text(e);
	read_build_id(e);
	return PS_OK;
}

enum ps_status ps_elf_open_bytes(struct ps_elf *e, struct pd_bytes bytes, struct pd_budget *budget)
{
	enum ps_status status;
	size_t n;

	*e = (struct ps_elf){ .budget = budget, .bytes = bytes, .arena.budget = budget };
	if (!is_elf(bytes))
		return PS_NOT_ELF;
	if (!count_sections(bytes, &n))
		return PS_BAD_FILE;
	if (!pd_budget_charge(budget, n * LIBELF_SECTION))
		return PS_OVER_LIMIT;
	e->charged = n * LIBELF_SECTION;
	ps_refused_begin();
	status = read_headers(e, n);
	if (ps_refused(budget))
		status = PS_OVER_LIMIT;
	if (status != PS_OK)
		ps_elf_close(e);
	return status;
}

enum ps_status ps_elf_open_fd(struct ps_elf *e, int fd, struct pd_budget *budget)
{
	struct ps_file_bytes file;
	enum ps_status status = ps_file_bytes_open(&file, fd, budget);

	if (status != PS_OK)
		return status;
	status = ps_elf_open_bytes(e, file.bytes, budget);
	if (status == PS_OK) {
		e->file = file;
		e->is_writable = true;
	} else {
		ps_file_bytes_close(&file);
	}
	return status;
}

void ps_elf_close(struct ps_elf *e)
{
	elf_end(e->elf);
	pd_arena_free(&e->arena);
	pd_budget_free(e->budget, e->segments, e->segment_capacity * sizeof(*e->segments));
	ps_flat_free(&e->by_offset);
	pd_budget_free(e->budget, e->sections, e->nr_sections * sizeof(*e->sections));
	if (e->budget)
		pd_budget_give_back(e->budget, e->charged);
	ps_file_bytes_close(&e->file);
	*e = (struct ps_elf){ .budget = NULL };
}

enum pd_swap ps_elf_swap(const struct ps_elf *e)
{
	return swap_of(e->bytes);
}

/* --- sections --- */

const struct ps_section *ps_elf_section_named(const struct ps_elf *e, const char *name)
{
	for (size_t i = 1; i < e->nr_sections; i++)
		if (e->sections[i].name && !strcmp(e->sections[i].name, name))
			return &e->sections[i];
	return NULL;
}

const struct ps_section *ps_elf_section_of_type(const struct ps_elf *e, uint32_t type)
{
	for (size_t i = 1; i < e->nr_sections; i++)
		if (e->sections[i].header.sh_type == type)
			return &e->sections[i];
	return NULL;
}

struct pd_bytes ps_elf_section_bytes(const struct ps_elf *e, const struct ps_section *s)
{
	const GElf_Shdr *h = &s->header;

	if (s->expanded.size)
		return s->expanded;
	if (h->sh_type == SHT_NOBITS || h->sh_offset > e->bytes.size ||
	    h->sh_size > e->bytes.size - h->sh_offset)
		return (struct pd_bytes){ NULL, 0 };
	return (struct pd_bytes){ e->bytes.data + h->sh_offset, h->sh_size };
}

/* libelf copies entries that have to be converted: they are charged as if all were. */
Elf_Data *ps_elf_section_data(struct ps_elf *e, const struct ps_section *s)
{
	const struct pd_bytes bytes = ps_elf_section_bytes(e, s);
	const size_t index = (size_t)(s - e->sections);
	Elf_Data *data;

	if (!bytes.size)
		return NULL;
	if (!s->is_charged) {
		if (!pd_budget_charge(e->budget, bytes.size))
			return NULL;
		e->charged += bytes.size;
		e->sections[index].is_charged = true;
	}
	ps_refused_begin();
	data = elf_getdata(elf_getscn(e->elf, index), NULL);
	if (!data)
		ps_refused(e->budget);
	return data;
}

/* --- addresses --- */

/* Whether a kernel with pages of some size maps the segment at this offset of the file. */
static bool starts_mapping(const struct ps_segment *s, const struct ps_mapping *map)
{
	for (uint64_t page = 4096; page <= 65536; page *= 2)
		if (!((map->addr | map->pgoff) % page) && s->offset / page * page == map->pgoff)
			return true;
	return false;
}

static bool holds_offset(const struct ps_segment *s, uint64_t offset)
{
	return offset >= s->offset && offset - s->offset < s->filesz;
}

static const struct ps_segment *find_segment(const struct ps_elf *e, const struct ps_mapping *map,
					     uint64_t offset)
{
	const struct ps_segment *best = NULL;
	int best_rank = 0;

	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct ps_segment *s = &e->segments[i];
		const bool holds = holds_offset(s, offset);
		int rank;

		if (!!(s->flags & PF_X) != map->executable || best_rank >= 2 + holds)
			continue;
		rank = starts_mapping(s, map) * 2 + holds;
		if (rank <= best_rank)
			continue;
		best = s;
		best_rank = rank;
	}
	return best;
}

static bool address_by_section(const struct ps_elf *e, uint64_t offset, uint64_t *address)
{
	const uint32_t found = ps_flat_find(&e->by_offset, offset);
	const struct ps_section *s;

	if (found == PS_FLAT_NONE)
		return false;
	s = &e->sections[e->nr_sections - found];
	*address = offset - s->header.sh_offset + s->addr;
	return true;
}

bool ps_elf_address(const struct ps_elf *e, const struct ps_mapping *map, uint64_t offset,
		    uint64_t *address)
{
	const struct ps_segment *s;

	if (!e->nr_segments)
		return address_by_section(e, offset, address);
	s = find_segment(e, map, offset);
	if (s)
		*address = offset - s->offset + s->vaddr;
	return s != NULL;
}

bool ps_elf_offset(const struct ps_elf *e, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct ps_segment *s = &e->segments[i];

		if (address < s->vaddr || address - s->vaddr >= s->filesz)
			continue;
		*offset = address - s->vaddr + s->offset;
		return true;
	}
	return false;
}

bool ps_elf_is_after_file(const struct ps_elf *e, uint64_t address)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct ps_segment *s = &e->segments[i];

		if (address >= s->vaddr && address - s->vaddr >= s->filesz &&
		    address - s->vaddr < s->memsz)
			return true;
	}
	return false;
}

bool ps_elf_is_of_one_segment(const struct ps_elf *e, uint64_t offset, uint64_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < e->nr_segments; i++)
		n += e->segments[i].offset < offset + size &&
		     offset < e->segments[i].offset + e->segments[i].memsz;
	return n == 1;
}

bool ps_elf_module_address(const struct ps_elf *e, uint64_t offset, uint64_t *address)
{
	const struct ps_section *s = e->module_text ? &e->sections[e->module_text] : NULL;

	if (!s || offset >= s->header.sh_size)
		return false;
	*address = s->addr + offset;
	return true;
}
