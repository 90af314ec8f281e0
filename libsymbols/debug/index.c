/* index.c - finds the unit of an address, and in it functions and lines: see index.h. */
#include "debug/index.h"

#include <dwarf.h>
#include <string.h>

#include "debug/relocate.h"
#include "image/expand.h"
#include "image/refused.h"

static bool has_prefix(const char *text, const char *prefix)
{
	return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The form of compressed sections before SHF_COMPRESSED. */
static bool is_gnu_compressed(const struct ps_section *s)
{
	return has_prefix(s->name, ".zdebug_");
}

static bool is_compressed(const struct ps_section *s)
{
	return is_gnu_compressed(s) ||
	       (has_prefix(s->name, ".debug_") && s->header.sh_flags & SHF_COMPRESSED);
}

/* The section's name begins with .debug_ or .zdebug_. */
static bool is_read(const struct ps_section *s, enum ps_debug_depth depth)
{
	static const char *const never[] = { "loc", "loclists", "macro", "macinfo", "aranges",
					     "pubnames", "pubtypes" };
	const char *name = strchr(s->name, '_') + 1;

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (strcmp(name, never[i]) == 0)
			return false;
	return depth >= PS_DEBUG_LINES || strcmp(name, "line") != 0;
}

/* Turns a section into one without bytes, so that libdw does not expand it. (Files that have to be
 * relocated need all sections.) */
static bool hide_section(Elf_Scn *section)
{
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header))
		return false;
	header.sh_type = SHT_NOBITS;
	return gelf_update_shdr(section, &header);
}

/* The link-time optimizer of gcc has debug information of its own: libdw expands it, but nothing
 * here is found in it. Sections of the old form are not relocated. */
static bool is_never_used(const struct ps_elf *file, const struct ps_section *s)
{
	return has_prefix(s->name, ".gnu.debuglto_") ||
	       (file->header.e_type == ET_REL && is_gnu_compressed(s));
}

/* In the old form the size of the expanded section is at byte 4, in big-endian order. */
static bool get_header(const struct ps_elf *file, const struct ps_section *s, Elf_Scn *section,
		       GElf_Chdr *out)
{
	const struct pd_bytes b = ps_elf_section_bytes(file, s);

	if (!is_gnu_compressed(s))
		return gelf_getchdr(section, out) != NULL;
	*out = (GElf_Chdr){ .ch_type = ELFCOMPRESS_ZLIB };
	for (size_t i = 4; i < 12 && i < b.size; i++)
		out->ch_size = out->ch_size << 8 | b.data[i];
	return true;
}

/* Expands the section, or charges what libdw will expand. A section that is damaged remains as it
 * is. */
static enum ps_status charge_section(struct ps_debug *d, struct ps_elf *file, size_t index,
				     Elf_Scn *section)
{
	const struct ps_section *s = &file->sections[index];
	GElf_Chdr header;

	if (!get_header(file, s, section, &header))
		return PS_BAD_FILE;
	if (ps_can_expand(&header) && !is_gnu_compressed(s))
		return ps_elf_expand(file, index, &header) == PS_OVER_LIMIT ? PS_OVER_LIMIT :
									      PS_OK;
	if (!pd_budget_charge(d->budget, header.ch_size))
		return PS_OVER_LIMIT;
	d->charged += header.ch_size;
	return PS_OK;
}

/* libdw expands all sections that are compressed still when it opens the file, and writes to their
 * headers. */
static enum ps_status charge_sections(struct ps_debug *d, struct ps_elf *file,
				      enum ps_debug_depth depth)
{
	enum ps_status status = PS_OK;

	for (size_t i = 1; status == PS_OK && i < file->nr_sections; i++) {
		const struct ps_section *s = &file->sections[i];
		const bool is_hidden = is_never_used(file, s);
		Elf_Scn *section;

		if (!is_hidden && !is_compressed(s))
			continue;
		section = elf_getscn(file->elf, i);
		if (!section || !file->is_writable)
			return PS_BAD_FILE;
		if (is_hidden)
			status = hide_section(section) ? PS_OK : PS_BAD_FILE;
		else if (file->header.e_type == ET_REL || is_read(s, depth) ||
			 !hide_section(section))
			status = charge_section(d, file, i, section);
	}
	return status;
}

/* Returns whether a section that is looked into could not be expanded: libdw leaves it out. */
static bool has_compressed_left(const struct ps_elf *file, enum ps_debug_depth depth)
{
	for (size_t i = 1; i < file->nr_sections; i++) {
		const struct ps_section *s = &file->sections[i];
		GElf_Shdr header;

		if (is_compressed(s) && !is_gnu_compressed(s) && is_read(s, depth) &&
		    gelf_getshdr(elf_getscn(file->elf, i), &header) &&
		    header.sh_flags & SHF_COMPRESSED)
			return true;
	}
	return false;
}

const struct ps_section *ps_debug_section(const struct ps_elf *file, const char *name)
{
	for (size_t i = 1; i < file->nr_sections; i++) {
		const struct ps_section *s = &file->sections[i];

		if ((has_prefix(s->name, ".debug_") || is_gnu_compressed(s)) &&
		    strcmp(strchr(s->name, '_') + 1, name) == 0)
			return s;
	}
	return NULL;
}

static int add_unit(struct ps_debug *d, Dwarf_Off die)
{
	struct ps_debug_unit *units = pd_budget_room(d->budget, d->units, d->nr_units,
						     &d->unit_capacity, sizeof(*units));

	if (!units)
		return -1;
	d->units = units;
	d->units[d->nr_units] = (struct ps_debug_unit){
		.die = die, .before = d->nr_units ? units[d->nr_units - 1].die : 0,
		.first_code = d->first_code };
	d->nr_units++;
	return 0;
}

static uint64_t find_first_code(const struct ps_elf *file)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 1; i < file->nr_sections; i++) {
		const struct ps_section *s = &file->sections[i];

		if (s->header.sh_flags & SHF_EXECINSTR && s->addr < first)
			first = s->addr;
	}
	return first == UINT64_MAX ? 0 : first;
}

struct unit_ranges {
	struct ps_range *items;
	size_t nr, capacity;
	uint64_t steps;		/* ranges that may still be read: several units may have one list */
};

/* clang leaves inlined functions in the skeleton, unless it is told not to: before DWARF 5 libdw
 * takes one that has entries for the other part. */
static bool is_skeleton(Dwarf_Die *unit)
{
	uint8_t type;

	return dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 &&
	       (type == DW_UT_skeleton ||
		(type == DW_UT_split_compile && dwarf_hasattr(unit, DW_AT_GNU_dwo_name)));
}

/* Adds a range of the last unit. Returns 0, or -1 without memory. */
static int add_range(struct ps_debug *d, struct unit_ranges *r, uint64_t start, uint64_t end)
{
	struct ps_range *items = pd_budget_room(d->budget, r->items, r->nr, &r->capacity,
						sizeof(*items));

	if (!items)
		return -1;
	r->items = items;
	r->items[r->nr++] = (struct ps_range){ start, end, (uint32_t)(d->nr_units - 1) };
	return 0;
}

/* A unit has no list of ranges before DWARF 3, unless the compiler extends that: it states one
 * range then, or none, though it may have code elsewhere. */
static bool may_lack_ranges(Dwarf_Die *unit)
{
	Dwarf_Half version;

	return dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) == 0 &&
	       version < 3 && dwarf_tag(unit) == DW_TAG_compile_unit &&
	       !dwarf_hasattr(unit, DW_AT_ranges);
}

/* Adds the ranges of the last unit's functions. */
static int add_function_ranges(struct ps_debug *d, struct unit_ranges *r)
{
	struct ps_debug_unit *u = &d->units[d->nr_units - 1];
	const struct ps_flat *f = &u->functions;
	int ret = ps_debug_unit_read_functions(u, d->dwarf, d->budget);

	u->has_code_elsewhere = true;
	for (size_t i = 0; !ret && i + 1 < f->nr; i++)
		if (f->points[i].value != PS_FLAT_NONE)
			ret = add_range(d, r, f->points[i].at, f->points[i + 1].at);
	return ret;
}

static int add_unit_ranges(struct ps_debug *d, Dwarf_Die *unit, struct unit_ranges *r)
{
	const bool lacks_ranges = may_lack_ranges(unit);
	Dwarf_Addr base, start, end;
	uint64_t dropped_end = 0;
	ptrdiff_t at = 0;
	bool known = false;

	while (r->steps && (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		r->steps--;
		if (end <= start)
			continue;
		if (start < d->first_code) {
			dropped_end = end > dropped_end ? end : dropped_end;
			continue;
		}
		if (!known && add_unit(d, dwarf_dieoffset(unit)))
			return -1;
		known = true;
		if (add_range(d, r, start, end))
			return -1;
	}
	if (!known && lacks_ranges && add_unit(d, dwarf_dieoffset(unit)))
		return -1;
	if (known || lacks_ranges) {
		d->units[d->nr_units - 1].dropped_end = dropped_end;
		d->units[d->nr_units - 1].is_skeleton = is_skeleton(unit);
	}
	return lacks_ranges ? add_function_ranges(d, r) : 0;
}

/* Only headers and first entries are read. (.debug_aranges would be shorter, but clang writes
 * none.) */
static int find_units(struct ps_debug *d)
{
	struct unit_ranges ranges = { .steps = d->file->bytes.size };	/* each takes bytes there */
	Dwarf_Off at = 0, next;
	size_t header;
	int ret = 0;

	while (!ret && dwarf_nextcu(d->dwarf, at, &next, &header, NULL, NULL, NULL) == 0 &&
	       next > at) {
		Dwarf_Die unit;

		if (dwarf_offdie(d->dwarf, at + header, &unit))
			ret = add_unit_ranges(d, &unit, &ranges);
		at = next;
	}
	if (!ret)
		ret = ps_flat_build(&d->by_address, ranges.items, ranges.nr);
	pd_budget_free(d->budget, ranges.items, ranges.capacity * sizeof(*ranges.items));
	return ret;
}

/* The section has been expanded. */
static struct pd_bytes bytes_of(const struct ps_elf *file, const char *name)
{
	const struct ps_section *s = ps_debug_section(file, name);
	Elf_Scn *scn = s ? elf_getscn(file->elf, (size_t)(s - file->sections)) : NULL;
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

	if (!data || !data->d_buf)
		return (struct pd_bytes){ NULL, 0 };
	return (struct pd_bytes){ data->d_buf, data->d_size };
}

enum ps_status ps_debug_open(struct ps_debug *d, struct ps_elf *file, struct ps_elf *alt,
			     enum ps_debug_depth depth, struct pd_budget *budget)
{
	enum ps_status status;

	*d = (struct ps_debug){ .budget = budget, .arena.budget = budget,
				.by_address.budget = budget, .file = file };
	if (!ps_debug_section(file, "info"))
		return PS_NOT_ELF;
	ps_refused_begin();
	status = charge_sections(d, file, depth);
	if (status == PS_OK && alt)
		status = charge_sections(d, alt, depth);
	if (status == PS_OK && file->header.e_type == ET_REL)
		status = ps_debug_relocate(file);
	if (status != PS_OK)
		goto fail;
	d->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!d->dwarf) {
		status = PS_BAD_FILE;
		goto fail;
	}
	d->is_partial = has_compressed_left(file, depth);
	d->alt = alt ? dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL) : NULL;
	if (d->alt)
		dwarf_setalt(d->dwarf, d->alt);
	d->first_code = find_first_code(file);
	d->addresses = bytes_of(file, "addr");
	d->ranges = bytes_of(file, "ranges");
	if (!find_units(d) && !ps_refused(budget))
		return PS_OK;
	status = PS_OVER_LIMIT;
fail:
	if (ps_refused(budget))
		status = PS_OVER_LIMIT;
	ps_debug_close(d);
	return status;
}

void ps_debug_close(struct ps_debug *d)
{
	for (size_t i = 0; i < d->nr_units; i++)
		ps_debug_unit_free(&d->units[i], d->budget);
	pd_budget_free(d->budget, d->units, d->unit_capacity * sizeof(*d->units));
	ps_flat_free(&d->by_address);
	pd_arena_free(&d->arena);
	dwarf_end(d->dwarf);
	dwarf_end(d->alt);
	pd_budget_give_back(d->budget, d->charged);
	*d = (struct ps_debug){ .budget = d->budget };
}

/* --- searching --- */

static struct pd_bytes bytes_from(struct pd_bytes b, Dwarf_Word from)
{
	if (!b.data || from > b.size)
		return (struct pd_bytes){ NULL, 0 };
	return (struct pd_bytes){ b.data + from, b.size - from };
}

static const char *get_string(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) && !ps_debug_leads_out(&attr) ?
		       dwarf_formstring(&attr) : NULL;
}

static Dwarf_Word get_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &value) ? value : 0;
}

static void read_skeleton(struct ps_debug *d, Dwarf_Die *unit, struct ps_skeleton *k)
{
	Dwarf_Addr base = 0;
	Dwarf_Half version = 0;

	*k = (struct ps_skeleton){ .name = get_string(unit, DW_AT_dwo_name),
				   .directory = get_string(unit, DW_AT_comp_dir) };
	if (!k->name)
		k->name = get_string(unit, DW_AT_GNU_dwo_name);
	k->addresses = bytes_from(d->addresses, get_number(unit, DW_AT_addr_base) +
						get_number(unit, DW_AT_GNU_addr_base));
	k->ranges = bytes_from(d->ranges, get_number(unit, DW_AT_GNU_ranges_base));
	dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, &k->id, NULL, NULL);
	k->version = version;
	dwarf_lowpc(unit, &base);
	k->base = base;
}

/* Opens the other file of the unit, if it is there. Returns 0, or -1 without memory. */
static int open_split(struct ps_debug *d, struct ps_debug_unit *u)
{
	struct ps_split *split = d->finder.find ? pd_budget_alloc(d->budget, sizeof(*split)) :
						  NULL;
	struct ps_skeleton skeleton;
	Dwarf_Die unit;

	if (!split)
		return d->finder.find ? -1 : 0;
	if (dwarf_offdie(d->dwarf, u->die, &unit)) {
		read_skeleton(d, &unit, &skeleton);
		if (skeleton.name && d->finder.find(d->finder.ctx, &skeleton, split)) {
			u->split = split;
			return 0;
		}
	}
	pd_budget_free(d->budget, split, sizeof(*split));
	return 0;
}

static struct ps_debug_unit *read_unit(struct ps_debug *d, uint64_t address,
				       enum ps_debug_depth depth, int *ret)
{
	const uint32_t i = ps_flat_find(&d->by_address, address);
	struct ps_debug_unit *u = i == PS_FLAT_NONE ? NULL : &d->units[i];

	*ret = 0;
	if (u && !u->has_functions && u->is_skeleton)
		*ret = open_split(d, u);
	ps_refused_begin();
	if (u && !*ret && !u->has_functions)
		*ret = ps_debug_unit_read_functions(u, d->dwarf, d->budget);
	if (u && !*ret && depth >= PS_DEBUG_LINES && !u->has_lines)
		*ret = ps_debug_unit_read_lines(u, d->dwarf, &d->arena);
	if (ps_refused(d->budget))
		*ret = -1;
	return u;
}

int ps_debug_find(struct ps_debug *d, uint64_t address, enum ps_debug_depth depth,
		  struct ps_debug_frame *out, int max)
{
	const struct ps_debug_line *row = NULL;
	const char *file = NULL;
	uint32_t line = 0, node;
	struct ps_debug_unit *u;
	int n = 0, ret;

	u = read_unit(d, address, depth, &ret);
	if (!u || ret)
		return ret;
	if (depth >= PS_DEBUG_LINES)
		row = ps_debug_unit_line(u, address);
	if (row) {
		file = ps_debug_unit_file(u, row->file, &d->arena);
		line = row->line;
	}
	node = ps_flat_find(&u->functions, address);
	if (node == PS_FLAT_NONE && row && max > 0) {
		out[0] = (struct ps_debug_frame){ NULL, file, line, false };
		return 1;
	}
	while (node != PS_NO_NODE && n < max) {
		const struct ps_debug_names *names;

		names = ps_debug_unit_names(u, node, d->dwarf, &d->arena, d->alt != NULL);
		if (!names)
			return -1;
		out[n++] = (struct ps_debug_frame){ names->name, file, line,
						    u->nodes[node].is_inlined };
		file = names->call_file;
		line = names->call_line;
		node = u->nodes[node].parent;
	}
	return n;
}
