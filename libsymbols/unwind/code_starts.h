/* code_starts.h - where functions without a symbol begin: what calls lead to, and whose address is
 * taken. */
#ifndef PS_UNWIND_CODE_STARTS_H
#define PS_UNWIND_CODE_STARTS_H

#include "image/elf_file.h"

#define PS_LONGEST_FUNCTION (16u << 10)	/* code from its beginning that is looked at */

/* Must be zero-initialized. */
struct ps_code_starts {
	bool is_read;
	uint64_t start, size;	/* of the code that was read */
	uint64_t *called, *taken;	/* a bit for each byte; NULL: none */
};

enum ps_code_evidence {
	PS_CODE_CALLED,
	PS_CODE_TAKEN,		/* or its address is taken: that of a label may be, too */
};

/* Finds the last function that begins at or before a virtual address of x86. The first time it
 * reads all code of the file, up to a limit. Returns false if there is none, or without memory. */
bool ps_code_start(struct ps_code_starts *s, const struct ps_elf *e, uint64_t vaddr,
		   enum ps_code_evidence evidence, uint64_t *start);

void ps_code_starts_free(struct ps_code_starts *s, struct pd_budget *budget);

#endif
