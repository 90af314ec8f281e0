/* code_row.h - rows for code without call frame information, by what its instructions do to the
 * stack: of musl's C library, and of assembly. */
#ifndef PS_UNWIND_CODE_ROW_H
#define PS_UNWIND_CODE_ROW_H

#include "image/elf_file.h"
#include "unwind/row.h"

/* Makes the row of a virtual address in a function that begins at `start`. Returns false if what
 * the instructions before the address do is not known, or the machine is not x86. */
bool ps_code_row(const struct ps_elf *e, const struct ps_arch *arch, uint64_t start, uint64_t vaddr,
		 struct ps_row *out);

enum ps_code_call {
	PS_NO_CALL,
	PS_CALL_DIRECT,
	PS_CALL_INDIRECT,	/* or one of a PLT; or it is not known */
};

/* Finds the call that ends at a virtual address, and what a direct one calls. */
enum ps_code_call ps_code_call_before(const struct ps_elf *e, uint64_t vaddr, uint64_t *target);

#endif
