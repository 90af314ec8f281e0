/* go_row.h - rows for Go programs without call frame information (-w). */
#ifndef PS_UNWIND_GO_ROW_H
#define PS_UNWIND_GO_ROW_H

#include "image/elf_file.h"
#include "unwind/row.h"

/* Makes the row of a virtual address from the table of the runtime. Returns false if that does not
 * have it, or the machine is not x86-64. */
bool ps_go_row(const struct ps_elf *e, const struct ps_arch *arch, uint64_t vaddr,
	       struct ps_row *out);

#endif
