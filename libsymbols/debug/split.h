/* split.h - split DWARF: the part of a unit that the compiler left in a .dwo file, or that dwp(1)
 * collected in a .dwp. libdw would open such files by itself, so it is given one that is put
 * together in memory: the unit's sections, and the addresses that the linker wrote. */
#ifndef PS_DEBUG_SPLIT_H
#define PS_DEBUG_SPLIT_H

#include <elfutils/libdw.h>

#include "image/elf_file.h"

/* The unit's share in a linked file. */
struct ps_skeleton {
	uint64_t id;
	unsigned int version;		/* of DWARF; GNU's before 5 */
	const char *name, *directory;	/* of the .dwo; the second may be NULL */
	uint64_t base;			/* that ranges of addresses are relative to */
	/* .debug_addr and .debug_ranges, from the unit's part on */
	struct pd_bytes addresses, ranges;
};

struct ps_split {
	struct pd_buf image;
	Elf *elf;
	Dwarf *dwarf;			/* NULL: not open */
	Dwarf_Off die;
	uint64_t base;
	struct pd_bytes rnglists;
	enum pd_swap swap;
};

/* Opens the part of the unit in `file`, a .dwo or a .dwp, which may be closed afterwards.
 * Returns PS_NOT_ELF if it has no unit of that id. On failure nothing is left to close. */
enum ps_status ps_split_open(struct ps_split *s, struct ps_elf *file, const struct ps_skeleton *k,
			     struct pd_budget *budget);
void ps_split_close(struct ps_split *s);

/* Begins the ranges of an entry: returns where dwarf_ranges() is to start, and sets *base; 0: from
 * the entry itself, -1: it has none. */
ptrdiff_t ps_split_ranges(const struct ps_split *s, Dwarf_Die *die, Dwarf_Addr *base);

#endif
