/* go_row.h - rows for Go programs without call frame information (-w). */
#ifndef PS_UNWIND_GO_ROW_H
#define PS_UNWIND_GO_ROW_H

#include "image/go_table.h"
#include "unwind/row.h"

/* Makes the row of a virtual address from the table of the runtime. Returns false if that does not
 * have it. */
bool ps_go_row(const struct ps_go_table *g, const struct ps_arch *arch, uint64_t vaddr,
	       struct ps_row *out);

#endif
