/* split.c - puts the part of a unit that is in a .dwo or .dwp together as an ELF file in memory:
 * see split.h. */
#include "debug/split.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "debug/package.h"
#include "image/expand.h"
#include "image/refused.h"

enum {
	/* Ranges begin after some bytes: dwarf_ranges() takes the first offset for a beginning. */
	RANGES_PAD = 16,
	RNGLISTS_HEADER = 12,
	STR_OFFSETS_HEADER = 8,		/* from DWARF 5 on */
	OFFSET = 4,			/* bytes of one: not of the 64-bit form of DWARF */
};

/* The sections that are put together, in this order. */
enum section {
	S_INFO = PS_PART_INFO,
	S_ABBREV = PS_PART_ABBREV,
	S_STR_OFFSETS = PS_PART_STR_OFFSETS,
	S_RNGLISTS = PS_PART_RNGLISTS,
	S_STR,
	S_ADDR,
	S_RANGES,
	S_NAMES,
	SECTIONS,
};

static const char *const names[SECTIONS] = {
	[S_INFO] = ".debug_info", [S_ABBREV] = ".debug_abbrev",
	[S_STR_OFFSETS] = ".debug_str_offsets", [S_RNGLISTS] = ".debug_rnglists",
	[S_STR] = ".debug_str", [S_ADDR] = ".debug_addr", [S_RANGES] = ".debug_ranges",
	[S_NAMES] = ".shstrtab",
};

struct assembly {
	struct ps_elf *file;
	enum pd_swap swap;
	struct pd_buf *out;
	uint64_t begin[SECTIONS], size[SECTIONS];
	uint32_t name[SECTIONS];
};

/* --- the sections of the file --- */

/* Expands the section if it is compressed. */
static struct pd_bytes bytes_of(struct assembly *a, const struct ps_section *s)
{
	const struct pd_bytes none = { NULL, 0 };
	struct pd_budget *budget = a->out->budget;
	const size_t index = s ? (size_t)(s - a->file->sections) : 0;
	Elf_Scn *section;
	GElf_Chdr header;
	Elf_Data *data;

	if (!s || !(s->header.sh_flags & SHF_COMPRESSED))
		return s ? ps_elf_section_bytes(a->file, s) : none;
	section = elf_getscn(a->file->elf, index);
	if (section && gelf_getchdr(section, &header)) {
		if (ps_can_expand(&header))
			return ps_elf_expand(a->file, index, &header) == PS_OK ?
				       ps_elf_section_bytes(a->file, s) : none;
		if (!pd_budget_charge(budget, header.ch_size))
			return none;
		a->file->charged += header.ch_size;
		if (elf_compress(section, 0, 0) < 0)
			return none;
	}
	data = section ? elf_getdata(section, NULL) : NULL;
	return data ? (struct pd_bytes){ data->d_buf, data->d_size } : none;
}

static struct pd_bytes section_bytes(struct assembly *a, const char *name)
{
	return bytes_of(a, ps_elf_section_named(a->file, name));
}

#define DWO_NAME 32

static const char *dwo_name(enum section which, char name[DWO_NAME])
{
	snprintf(name, DWO_NAME, "%s.dwo", names[which]);
	return name;
}

static struct pd_bytes dwo_section(struct assembly *a, enum section which)
{
	char name[DWO_NAME];

	return section_bytes(a, dwo_name(which, name));
}

static struct pd_bytes slice(struct pd_bytes b, uint64_t offset, uint64_t size)
{
	if (!b.data || offset > b.size || size > b.size - offset)
		return (struct pd_bytes){ NULL, 0 };
	return (struct pd_bytes){ b.data + offset, size };
}

static size_t align(struct pd_buf *b)
{
	static const uint8_t zeros[8];

	pd_buf_append(b, zeros, -b->size & 7);
	return b->size;
}

static void begin_section(struct assembly *a, enum section which)
{
	a->begin[which] = align(a->out);
}

static void add_section(struct assembly *a, enum section which, struct pd_bytes b)
{
	begin_section(a, which);
	if (b.size)
		pd_buf_append(a->out, b.data, b.size);
	a->size[which] = b.size;
}

/* In a .dwo each unit of types has a section of its own, before that of the functions. */
static void add_sections(struct assembly *a, enum section which)
{
	char name[DWO_NAME];

	dwo_name(which, name);
	begin_section(a, which);
	for (size_t i = 1; i < a->file->nr_sections; i++) {
		const struct ps_section *s = &a->file->sections[i];
		struct pd_bytes b;

		if (!s->name || strcmp(s->name, name) != 0)
			continue;
		b = bytes_of(a, s);
		if (b.size)
			pd_buf_append(a->out, b.data, b.size);
		a->size[which] += b.size;
	}
}

/* --- strings --- */

/* A package has the strings of all units: those of this one are copied, and their offsets set. Few
 * are parts of others, so that more bytes than twice all are damage. */
static void add_strings(struct assembly *a, struct pd_bytes all, unsigned int version)
{
	size_t at = version >= 5 ? STR_OFFSETS_HEADER : 0;

	begin_section(a, S_STR);
	for (; at + OFFSET <= a->size[S_STR_OFFSETS] && !a->out->failed; at += OFFSET) {
		uint8_t *place = a->out->data + a->begin[S_STR_OFFSETS] + at;
		const uint32_t offset = pd_load32(place, a->swap);
		const struct pd_bytes rest = offset < all.size ?
			slice(all, offset, all.size - offset) : slice(all, 0, 0);
		const size_t used = a->out->size - a->begin[S_STR];
		const size_t n = used <= 2 * all.size ? pd_text_length(rest) : 0;

		pd_store(place, used, OFFSET, a->swap);
		pd_buf_append(a->out, n ? rest.data : NULL, n);
		pd_buf_append(a->out, "", 1);
	}
	a->size[S_STR] = a->out->size - a->begin[S_STR];
}

/* --- putting together --- */

static enum ps_status add_parts(struct assembly *a, const struct ps_skeleton *k)
{
	const struct pd_bytes index = section_bytes(a, ".debug_cu_index");
	struct ps_package_unit unit;

	if (index.size && !ps_package_find(index, a->swap, k->id, &unit))
		return PS_NOT_ELF;
	for (unsigned int i = 0; i < PS_PARTS; i++)
		if (index.size)
			add_section(a, (enum section)i,
				    slice(dwo_section(a, (enum section)i), unit.offset[i],
					  unit.size[i]));
		else
			add_sections(a, (enum section)i);
	return a->size[S_INFO] && a->size[S_ABBREV] && !a->out->failed ? PS_OK : PS_NOT_ELF;
}

static void add_ranges(struct assembly *a, struct pd_bytes ranges)
{
	static const uint8_t pad[RANGES_PAD];

	begin_section(a, S_RANGES);
	if (!ranges.size)
		return;
	pd_buf_append(a->out, pad, sizeof(pad));
	pd_buf_append(a->out, ranges.data, ranges.size);
	a->size[S_RANGES] = RANGES_PAD + ranges.size;
}

static void add_names(struct assembly *a)
{
	begin_section(a, S_NAMES);
	pd_buf_append(a->out, "", 1);
	for (unsigned int i = 0; i < SECTIONS; i++) {
		a->name[i] = (uint32_t)(a->out->size - a->begin[S_NAMES]);
		pd_buf_append(a->out, names[i], strlen(names[i]) + 1);
	}
	a->size[S_NAMES] = a->out->size - a->begin[S_NAMES];
}

/* Converts a header of this machine to the byte order of the file. */
static void convert(const struct assembly *a, void *to, const void *from, size_t size,
		    Elf_Type type)
{
	Elf_Data in = { .d_buf = (void *)(uintptr_t)from, .d_type = type, .d_size = size,
			.d_version = EV_CURRENT };
	Elf_Data out = { .d_buf = to, .d_size = size, .d_version = EV_CURRENT };

	elf64_xlatetof(&out, &in, a->file->header.e_ident[EI_DATA]);
}

static void add_headers(struct assembly *a)
{
	Elf64_Ehdr header = { .e_type = ET_REL, .e_version = EV_CURRENT,
			      .e_machine = a->file->header.e_machine,
			      .e_ehsize = sizeof(header), .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = SECTIONS + 1, .e_shstrndx = S_NAMES + 1 };
	Elf64_Shdr s = { .sh_type = SHT_NULL };
	uint8_t *place;

	header.e_shoff = align(a->out);
	place = pd_buf_reserve(a->out, (SECTIONS + 1) * sizeof(s));
	if (!place)
		return;
	convert(a, place, &s, sizeof(s), ELF_T_SHDR);
	for (unsigned int i = 0; i < SECTIONS; i++) {
		s = (Elf64_Shdr){ .sh_type = i == S_NAMES ? SHT_STRTAB : SHT_PROGBITS,
				  .sh_name = a->name[i], .sh_offset = a->begin[i],
				  .sh_size = a->size[i], .sh_addralign = 1 };
		convert(a, place + (i + 1) * sizeof(s), &s, sizeof(s), ELF_T_SHDR);
	}
	a->out->size += (SECTIONS + 1) * sizeof(s);
	memcpy(header.e_ident, a->file->header.e_ident, EI_NIDENT);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	convert(a, a->out->data, &header, sizeof(header), ELF_T_EHDR);
}

static enum ps_status assemble(struct assembly *a, const struct ps_skeleton *k)
{
	static const uint8_t header[sizeof(Elf64_Ehdr)];
	enum ps_status status;

	pd_buf_append(a->out, header, sizeof(header));
	status = add_parts(a, k);
	if (status != PS_OK)
		return a->out->failed ? PS_OVER_LIMIT : status;
	add_strings(a, dwo_section(a, S_STR), k->version);
	add_section(a, S_ADDR, k->addresses);
	add_ranges(a, k->ranges);
	add_names(a);
	add_headers(a);
	return a->out->failed ? PS_OVER_LIMIT : PS_OK;
}

/* --- the unit --- */

static bool find_unit(struct ps_split *s, uint64_t id)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint64_t found;
	uint8_t type;

	while (dwarf_get_units(s->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_split_compile &&
		    dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &found, NULL, NULL) == 0 &&
		    found == id) {
			s->die = dwarf_dieoffset(&die);
			return true;
		}
	return false;
}

enum ps_status ps_split_open(struct ps_split *s, struct ps_elf *file, const struct ps_skeleton *k,
			     struct pd_budget *budget)
{
	struct assembly a = { .file = file, .swap = ps_elf_swap(file), .out = &s->image };
	enum ps_status status;

	*s = (struct ps_split){ .image.budget = budget, .base = k->base };
	status = assemble(&a, k);
	if (status == PS_OK) {
		s->rnglists = slice(pd_buf_bytes(&s->image), a.begin[S_RNGLISTS],
				    a.size[S_RNGLISTS]);
		s->swap = a.swap;
		ps_refused_begin();
		s->elf = elf_memory((char *)s->image.data, s->image.size);
		s->dwarf = s->elf ? dwarf_begin_elf(s->elf, DWARF_C_READ, NULL) : NULL;
		status = s->dwarf && find_unit(s, k->id) ? PS_OK : PS_NOT_ELF;
		if (ps_refused(budget))
			status = PS_OVER_LIMIT;
	}
	if (status != PS_OK)
		ps_split_close(s);
	return status;
}

void ps_split_close(struct ps_split *s)
{
	dwarf_end(s->dwarf);
	elf_end(s->elf);
	pd_buf_free(&s->image);
	*s = (struct ps_split){ .dwarf = NULL };
}

/* --- ranges --- */

static bool read_uleb(struct pd_cursor *c, uint64_t *v)
{
	const uint8_t *p;

	*v = 0;
	for (unsigned int shift = 0; shift < 64 && (p = pd_take(c, 1)); shift += 7) {
		*v |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return true;
	}
	return false;
}

/* The attribute's bytes are in the image. */
static ptrdiff_t listed_ranges(const struct ps_split *s, const Dwarf_Attribute *attr)
{
	const uint64_t at = (uint64_t)(attr->valp - s->image.data);
	struct pd_cursor c = pd_cursor(slice(pd_buf_bytes(&s->image), at, s->image.size - at),
				       s->swap);
	uint64_t i;

	if (!read_uleb(&c, &i) || i >= s->rnglists.size / OFFSET)
		return -1;
	c = pd_cursor(s->rnglists, s->swap);
	return pd_take(&c, RNGLISTS_HEADER + i * OFFSET) && pd_take_number(&c, OFFSET, &i) ?
		       (ptrdiff_t)(RNGLISTS_HEADER + i) : -1;
}

ptrdiff_t ps_split_ranges(const struct ps_split *s, Dwarf_Die *die, Dwarf_Addr *base)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	Dwarf_Half version;

	if (!dwarf_attr(die, DW_AT_ranges, &attr))
		return 0;
	*base = s->base;
	if (dwarf_whatform(&attr) == DW_FORM_rnglistx)
		return listed_ranges(s, &attr);
	if (dwarf_formudata(&attr, &offset) || offset > s->image.size ||
	    dwarf_cu_info(attr.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL))
		return -1;
	return (ptrdiff_t)(version < 5 ? RANGES_PAD + offset : offset);
}
