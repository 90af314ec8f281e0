/* names.c - the name of a function, and the line that an inlined one was called from. */
#include <dwarf.h>

#include "debug/unit.h"

#define HOPS_MAX 8	/* from a concrete function to its declaration */

static const char *get_string(Dwarf_Die *die, unsigned int name, bool has_alt)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr(die, name, &attr) || (ps_debug_leads_out(&attr) && !has_alt))
		return NULL;
	return dwarf_formstring(&attr);
}

static bool follow(Dwarf_Die *die, unsigned int name, bool has_alt, Dwarf_Die *out)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) && (!ps_debug_leads_out(&attr) || has_alt) &&
	       dwarf_formref_die(&attr, out);
}

/* The linkage name of the concrete function comes before that of its origin: gcc calls
 * constructors C4 there, which is no symbol. */
static const char *find_name(Dwarf_Die *die, bool has_alt)
{
	const char *plain = NULL;
	Dwarf_Die at = *die;

	for (int hops = 0; hops < HOPS_MAX; hops++) {
		const char *name = get_string(&at, DW_AT_linkage_name, has_alt);
		Dwarf_Die next;

		if (!name)
			name = get_string(&at, DW_AT_MIPS_linkage_name, has_alt);
		if (name)
			return name;
		if (!plain)
			plain = get_string(&at, DW_AT_name, has_alt);
		if (!follow(&at, DW_AT_abstract_origin, has_alt, &next) &&
		    !follow(&at, DW_AT_specification, has_alt, &next))
			break;
		at = next;
	}
	return plain;
}

static uint64_t get_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value))
		return 0;
	return value;
}

const struct ps_debug_names *ps_debug_unit_names(struct ps_debug_unit *u, uint32_t node,
						 Dwarf *dwarf, struct pd_arena *arena,
						 bool has_alt)
{
	struct ps_debug_node *n = &u->nodes[node];
	struct ps_debug_names *names = n->names;
	Dwarf_Die die;

	if (names)
		return names;
	names = pd_arena_alloc(arena, sizeof(*names));
	if (!names || !dwarf_offdie(u->split ? u->split->dwarf : dwarf, n->die, &die))
		return names;
	names->name = find_name(&die, has_alt);
	if (n->is_inlined) {
		/* -gstrict-dwarf leaves it out below DWARF 3; a file of number 0 is another */
		if (dwarf_hasattr(&die, DW_AT_call_file))
			names->call_file = ps_debug_unit_file(
				u, get_number(&die, DW_AT_call_file), arena);
		names->call_line = (uint32_t)get_number(&die, DW_AT_call_line);
	}
	n->names = names;
	return names;
}
