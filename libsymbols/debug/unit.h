/* unit.h - the functions and lines of one compilation unit, as flat arrays. */
#ifndef PS_DEBUG_UNIT_H
#define PS_DEBUG_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "base/arena.h"
#include "debug/split.h"
#include "image/flat.h"

#define PS_NO_NODE UINT32_MAX

/* The names of a function, read when it is asked for. */
struct ps_debug_names {
	const char *name;	/* mangled, if the language mangles; NULL: none */
	const char *call_file;	/* where an inlined function was called; NULL: unknown */
	uint32_t call_line;	/* 0: unknown */
};

/* A function with code, or a place into which one was inlined. */
struct ps_debug_node {
	Dwarf_Off die;
	uint32_t parent;	/* of an inlined one: the function around it */
	bool is_inlined;
	struct ps_debug_names *names;
};

struct ps_debug_line {
	uint64_t address;
	uint32_t line;		/* 0: no code of a line */
	uint32_t file;
};

struct ps_debug_unit {
	Dwarf_Off die, before;		/* that of the unit before it; 0: none */
	bool is_skeleton;		/* its functions are in another file */
	struct ps_split *split;		/* which is open; NULL: it is not there */
	/* Functions that the linker has dropped begin before the image's code, mostly at 0. Lines
	 * up to their end can be theirs. */
	uint64_t first_code, dropped_end;
	bool has_functions, has_lines;
	bool has_code_elsewhere;	/* functions outside of the unit's own ranges */
	struct ps_debug_node *nodes;
	size_t nr_nodes, node_capacity;
	struct ps_flat functions;	/* address -> innermost node */
	struct ps_debug_line *lines;
	size_t nr_lines, line_capacity;
	Dwarf_Files *files;		/* that lines and calls have the numbers of */
	const char **paths;		/* of the files, once asked for */
	size_t nr_files;
	const char *directory;		/* of the compilation; NULL: unknown */
};

/* Both return 0, or -1 without memory; what can't be read is left out. */
int ps_debug_unit_read_functions(struct ps_debug_unit *u, Dwarf *dwarf, struct pd_budget *budget);
int ps_debug_unit_read_lines(struct ps_debug_unit *u, Dwarf *dwarf, struct pd_arena *arena);
void ps_debug_unit_free(struct ps_debug_unit *u, struct pd_budget *budget);

/* Returns the row for the address, or NULL. */
const struct ps_debug_line *ps_debug_unit_line(const struct ps_debug_unit *u, uint64_t address);
/* Returns the path of the i-th file of the unit, joined to the directory of the compilation in the
 * arena, or NULL. */
const char *ps_debug_unit_file(const struct ps_debug_unit *u, size_t i, struct pd_arena *arena);

/* Returns whether following the attribute leads to the supplementary file. libdw would open that by
 * itself, so attributes are looked at first. */
bool ps_debug_leads_out(Dwarf_Attribute *attr);

/* Returns the names of a node, read on first need; NULL without memory. `has_alt`: whether there is
 * a supplementary file, to which references may lead. */
const struct ps_debug_names *ps_debug_unit_names(struct ps_debug_unit *u, uint32_t node,
						 Dwarf *dwarf, struct pd_arena *arena,
						 bool has_alt);

#endif
