/* plt_row.h - rows for PLTs that have no call frame information. */
#ifndef PS_UNWIND_PLT_ROW_H
#define PS_UNWIND_PLT_ROW_H

#include "image/elf_file.h"
#include "unwind/row.h"

/* Finds the row at a virtual address in an entry of a PLT. Returns false elsewhere, and where the
 * code is not known. */
bool ps_plt_row(const struct ps_elf *e, const struct ps_arch *arch, uint64_t vaddr,
		struct ps_row *out);

#endif
