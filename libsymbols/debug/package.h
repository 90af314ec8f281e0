/* package.h - .debug_cu_index of a .dwp: where the parts of a unit are. */
#ifndef PS_DEBUG_PACKAGE_H
#define PS_DEBUG_PACKAGE_H

#include "base/cursor.h"

enum ps_part {
	PS_PART_INFO,
	PS_PART_ABBREV,
	PS_PART_STR_OFFSETS,
	PS_PART_RNGLISTS,
	PS_PARTS,
};

/* Offsets and sizes in the sections; size 0: the unit has none. */
struct ps_package_unit {
	uint32_t offset[PS_PARTS], size[PS_PARTS];
};

/* Finds the unit of an id. Returns false if there is none. */
bool ps_package_find(struct pd_bytes index, enum pd_swap swap, uint64_t id,
		     struct ps_package_unit *out);

#endif
