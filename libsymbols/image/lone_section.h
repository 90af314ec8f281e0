/* lone_section.h - one debug section in an ELF file of its own, in memory: libdw expands all
 * compressed sections of a file that it opens, and writes to their headers. */
#ifndef PS_IMAGE_LONE_SECTION_H
#define PS_IMAGE_LONE_SECTION_H

#include <elfutils/libdw.h>

#include "image/elf_file.h"

struct ps_lone_section {
	struct pd_buf image;
	Elf *elf;
	Dwarf *dwarf;			/* NULL: not open */
	struct pd_budget *budget;
	size_t charged;			/* for what libdw expands */
	struct pd_arena arena;		/* of what is expanded here */
};

/* Copies the section of `file`, which is not changed and may be closed afterwards. Returns
 * PS_NOT_ELF if it has none of that name, or PS_BAD_FILE or PS_OVER_LIMIT. On failure nothing is
 * left to close. */
enum ps_status ps_lone_section_open(struct ps_lone_section *l, const struct ps_elf *file,
				    const char *name, struct pd_budget *budget);
void ps_lone_section_close(struct ps_lone_section *l);

#endif
