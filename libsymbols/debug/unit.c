/* unit.c - one walk over the entries (DIEs) of a unit collects its functions; its line table is
 * copied row by row. libdw reads, this only keeps what a search by address needs. */
#include "debug/unit.h"

#include <dwarf.h>
#include <string.h>

#define DEPTH_MAX 256
#define RANGES_PER_BYTE 4	/* of a unit; compilers write fewer than one */

bool ps_debug_leads_out(Dwarf_Attribute *attr)
{
	switch (dwarf_whatform(attr)) {
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_strp_sup:
		return true;
	default:
		return false;
	}
}

struct walk {
	struct ps_debug_unit *unit;
	struct pd_budget *budget;
	struct ps_range *ranges;
	size_t nr_ranges, range_capacity;
	uint64_t steps;		/* entries that may still be visited */
	uint64_t range_steps;	/* the same for ranges: several entries may have one list */
	bool failed;
};

/* --- functions --- */

static void add_range(struct walk *w, uint64_t start, uint64_t end, uint32_t node)
{
	struct ps_range *ranges = pd_budget_room(w->budget, w->ranges, w->nr_ranges,
						 &w->range_capacity, sizeof(*ranges));

	if (!ranges) {
		w->failed = true;
		return;
	}
	w->ranges = ranges;
	w->ranges[w->nr_ranges++] = (struct ps_range){ start, end, node };
}

static uint32_t add_node(struct walk *w, Dwarf_Die *die, uint32_t parent, bool is_inlined)
{
	struct ps_debug_unit *u = w->unit;
	struct ps_debug_node *nodes = u->nr_nodes < PS_NO_NODE ?
		pd_budget_room(w->budget, u->nodes, u->nr_nodes, &u->node_capacity,
			       sizeof(*nodes)) : NULL;

	if (!nodes) {
		w->failed = true;
		return PS_NO_NODE;
	}
	u->nodes = nodes;
	u->nodes[u->nr_nodes] = (struct ps_debug_node){ .die = dwarf_dieoffset(die),
							.parent = parent,
							.is_inlined = is_inlined };
	return (uint32_t)u->nr_nodes++;
}

/* The linker empties the unit's own ranges of what it drops in .debug_ranges of DWARF 4. */
static void note_dropped(struct ps_debug_unit *u, uint64_t end)
{
	if (end > u->dropped_end)
		u->dropped_end = end;
}

/* Adds the function if it has code. Returns its node, or the parent. */
static uint32_t add_function(struct walk *w, Dwarf_Die *die, uint32_t parent, bool is_inlined)
{
	Dwarf_Addr base = 0, start, end;
	uint32_t node = PS_NO_NODE;
	ptrdiff_t at = w->unit->split ? ps_split_ranges(w->unit->split, die, &base) : 0;

	while (at >= 0 && !w->failed && w->range_steps &&
	       (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		w->range_steps--;
		if (end <= start)
			continue;
		if (start < w->unit->first_code) {
			note_dropped(w->unit, end);
			continue;
		}
		if (node == PS_NO_NODE)
			node = add_node(w, die, is_inlined ? parent : PS_NO_NODE, is_inlined);
		if (node != PS_NO_NODE)
			add_range(w, start, end, node);
	}
	return node == PS_NO_NODE ? parent : node;
}

static void walk_children(struct walk *w, Dwarf_Die *parent, uint32_t node, unsigned int depth);

/* Code is in functions, and functions are in what may surround them. */
static void visit_die(struct walk *w, Dwarf_Die *die, uint32_t node, unsigned int depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		node = add_function(w, die, node, false);
		break;
	case DW_TAG_inlined_subroutine:
		node = add_function(w, die, node, true);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		break;
	default:
		return;
	}
	walk_children(w, die, node, depth + 1);
}

static void walk_children(struct walk *w, Dwarf_Die *parent, uint32_t node, unsigned int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || !dwarf_haschildren(parent) || dwarf_child(parent, &die) != 0)
		return;
	do {
		if (w->failed || !w->steps)
			return;
		w->steps--;
		visit_die(w, &die, node, depth);
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* Each entry has at least one byte: damaged references can't make the walk longer. */
static uint64_t size_of_unit(Dwarf *dwarf, Dwarf_Die *unit)
{
	const Dwarf_Off offset = dwarf_dieoffset(unit) - dwarf_cuoffset(unit);
	Dwarf_Off next;
	size_t header;

	if (dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) != 0 || next <= offset)
		return 0;
	return next - offset;
}

int ps_debug_unit_read_functions(struct ps_debug_unit *u, Dwarf *dwarf, struct pd_budget *budget)
{
	struct walk w = { .unit = u, .budget = budget };
	Dwarf_Die unit;
	int ret = 0;

	u->has_functions = true;
	u->functions.budget = budget;
	if (u->split)
		dwarf = u->split->dwarf;
	if (!dwarf_offdie(dwarf, u->split ? u->split->die : u->die, &unit))
		return 0;
	w.steps = size_of_unit(dwarf, &unit);
	w.range_steps = w.steps * RANGES_PER_BYTE;
	walk_children(&w, &unit, PS_NO_NODE, 0);
	ret = w.failed ? -1 : ps_flat_build(&u->functions, w.ranges, w.nr_ranges);
	pd_budget_free(budget, w.ranges, w.range_capacity * sizeof(*w.ranges));
	return ret;
}

/* --- lines --- */

struct rows {
	Dwarf_Lines *lines;
	size_t count;
	struct ps_flat covered;		/* the unit's code */
};

static int read_unit_ranges(const struct ps_debug_unit *u, Dwarf_Die *unit, struct ps_flat *out)
{
	struct pd_budget *budget = out->budget;
	struct ps_range *ranges = NULL, *more;
	size_t nr = 0, capacity = 0;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int ret;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		if (start < u->first_code)
			continue;
		more = pd_budget_room(budget, ranges, nr, &capacity, sizeof(*ranges));
		if (!more)
			break;
		ranges = more;
		ranges[nr++] = (struct ps_range){ start, end, 0 };
	}
	for (size_t i = 0; u->has_code_elsewhere && i + 1 < u->functions.nr; i++) {
		const struct ps_point *p = &u->functions.points[i];

		more = p->value == PS_FLAT_NONE ? NULL :
			pd_budget_room(budget, ranges, nr, &capacity, sizeof(*ranges));
		if (!more)
			continue;
		ranges = more;
		ranges[nr++] = (struct ps_range){ p[0].at, p[1].at, 0 };
	}
	ret = ps_flat_build(out, ranges, nr);
	pd_budget_free(budget, ranges, capacity * sizeof(*ranges));
	return ret;
}

/* Copies the rows. Those outside of the unit's code are of sections that the linker has dropped.
 * The last of several at one address counts. */
static void copy_rows(struct ps_debug_unit *u, const struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct ps_debug_line to = { .address = 0 };
		bool is_end = false;
		Dwarf_Files *files;
		Dwarf_Line *line;
		size_t file = 0;
		int number = 0;

		line = dwarf_onesrcline(rows->lines, i);
		if (!line || dwarf_lineaddr(line, &to.address) || dwarf_lineno(line, &number) ||
		    dwarf_lineendsequence(line, &is_end) || to.address < u->dropped_end ||
		    (!is_end && ps_flat_find(&rows->covered, to.address) == PS_FLAT_NONE))
			continue;
		if (!is_end && number > 0 && !dwarf_line_file(line, &files, &file)) {
			to.line = (uint32_t)number;
			to.file = (uint32_t)file;
		}
		if (u->nr_lines && u->lines[u->nr_lines - 1].address == to.address)
			u->lines[u->nr_lines - 1] = to;
		else
			u->lines[u->nr_lines++] = to;
	}
}

/* Reads the table of a skeleton that libdw takes for the other part, which has none. The search for
 * its unit begins after the one before it. */
static bool read_table(struct ps_debug_unit *u, Dwarf_Die *unit, Dwarf *dwarf, struct rows *rows)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	Dwarf_Off next;
	Dwarf_Die before;

	if (!dwarf_attr(unit, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &offset))
		return false;
	if (u->before && dwarf_offdie(dwarf, u->before, &before))
		cu = before.cu;
	return dwarf_next_lines(dwarf, offset, &next, &cu, &u->files, &u->nr_files, &rows->lines,
				&rows->count) == 0;
}

/* The files of calls in a split unit are numbered by the table of the program, too: the one in a
 * .dwo is for units of types. */
static int read_files(struct ps_debug_unit *u, Dwarf_Die *unit, Dwarf *dwarf, struct rows *rows,
		      struct pd_arena *arena)
{
	Dwarf_Attribute attr;

	if (dwarf_getsrcfiles(unit, &u->files, &u->nr_files) != 0)
		u->nr_files = 0;
	if (dwarf_getsrclines(unit, &rows->lines, &rows->count) != 0 &&
	    !(u->is_skeleton && read_table(u, unit, dwarf, rows)))
		rows->count = 0;
	u->paths = pd_arena_alloc(arena, u->nr_files * sizeof(*u->paths));
	if (!u->paths) {
		u->nr_files = 0;
		return -1;
	}
	if (dwarf_attr(unit, DW_AT_comp_dir, &attr) && !ps_debug_leads_out(&attr))
		u->directory = dwarf_formstring(&attr);
	return 0;
}

int ps_debug_unit_read_lines(struct ps_debug_unit *u, Dwarf *dwarf, struct pd_arena *arena)
{
	struct pd_budget *budget = arena->budget;
	struct rows rows = { .covered.budget = budget };
	struct ps_debug_line *fit;
	Dwarf_Die unit;

	u->has_lines = true;
	if (!dwarf_offdie(dwarf, u->die, &unit))
		return 0;
	if (read_files(u, &unit, dwarf, &rows, arena))
		return -1;
	if (!rows.count)
		return 0;
	if (read_unit_ranges(u, &unit, &rows.covered))
		return -1;
	u->lines = pd_budget_alloc(budget, rows.count * sizeof(*u->lines));
	u->line_capacity = rows.count;
	if (u->lines)
		copy_rows(u, &rows);
	ps_flat_free(&rows.covered);
	if (!u->lines)
		return -1;
	fit = pd_budget_grow(budget, u->lines, u->line_capacity * sizeof(*fit),
			     u->nr_lines * sizeof(*fit));
	if (fit) {
		u->lines = fit;
		u->line_capacity = u->nr_lines;
	}
	return 0;
}

const struct ps_debug_line *ps_debug_unit_line(const struct ps_debug_unit *u, uint64_t address)
{
	const struct ps_debug_line *from = u->lines;
	size_t n = u->nr_lines;

	if (!n || address < from->address)
		return NULL;
	while (n > 1) {
		const size_t half = n / 2;

		from += from[half].address <= address ? half : 0;
		n -= half;
	}
	return from->line ? from : NULL;
}

static const char *join_path(const char *directory, const char *file, struct pd_arena *arena)
{
	const size_t n = strlen(directory), m = strlen(file);
	char *path = pd_arena_alloc(arena, n + m + 2);

	if (path) {
		memcpy(path, directory, n);
		path[n] = '/';
		memcpy(path + n + 1, file, m + 1);
	}
	return path;
}

const char *ps_debug_unit_file(const struct ps_debug_unit *u, size_t i, struct pd_arena *arena)
{
	const char *path;

	if (i >= u->nr_files)
		return NULL;
	if (u->paths[i])
		return u->paths[i];
	path = dwarf_filesrc(u->files, i, NULL, NULL);
	if (!i && path && strcmp(path, "???") == 0)	/* of libdw: none, before DWARF 5 */
		return NULL;
	while (path && path[0] == '.' && path[1] == '/')
		path += 2;
	if (path && path[0] != '/' && u->directory)
		path = join_path(u->directory, path, arena);
	u->paths[i] = path;
	return path;
}

void ps_debug_unit_free(struct ps_debug_unit *u, struct pd_budget *budget)
{
	pd_budget_free(budget, u->nodes, u->node_capacity * sizeof(*u->nodes));
	pd_budget_free(budget, u->lines, u->line_capacity * sizeof(*u->lines));
	ps_flat_free(&u->functions);
	if (u->split) {
		ps_split_close(u->split);
		pd_budget_free(budget, u->split, sizeof(*u->split));
	}
}
