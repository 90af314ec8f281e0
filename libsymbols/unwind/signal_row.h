/* signal_row.h - rows for the code that handlers of signals return to. */
#ifndef PS_UNWIND_SIGNAL_ROW_H
#define PS_UNWIND_SIGNAL_ROW_H

#include "image/elf_file.h"
#include "unwind/row.h"

/* Makes the row of a virtual address in a trampoline that calls sigreturn. Returns false
 * elsewhere. */
bool ps_signal_row(const struct ps_elf *e, const struct ps_arch *arch, uint64_t vaddr,
		   struct ps_row *out);

#endif
