/* go_row.c - the size of a frame is a row: as in .debug_frame of Go, registers are not saved. */
#include "unwind/go_row.h"

#include "image/go_frame.h"

/* Where a call pushes nothing, a function that has a frame saves the return address at its lower
 * end, and one that has none leaves it in the register. */
static struct ps_location find_return_address(const struct ps_arch *arch, uint64_t size)
{
	if (arch->link && !size)
		return (struct ps_location){ .where = PS_AT_SAME };
	return (struct ps_location){
		.where = PS_AT_CFA,
		.offset = -(int64_t)(arch->link ? size : arch->word),
	};
}

bool ps_go_row(const struct ps_go_table *g, const struct ps_arch *arch, uint64_t vaddr,
	       struct ps_row *out)
{
	struct ps_go_frame frame;

	if (!ps_go_frame_find(g, vaddr, &frame))
		return false;
	out->start = frame.start;
	out->end = frame.end;
	out->nr_ops = 0;
	out->signal = out->of_code = false;
	out->cfa = (struct ps_location){
		.where = PS_IN_REGISTER,
		.reg = arch->sp,
		.offset = (int64_t)frame.size + (arch->link ? 0 : arch->word),
	};
	for (unsigned int i = 0; i < arch->nr_registers; i++)
		out->at[i] = (struct ps_location){ .where = PS_AT_SAME };
	out->at[arch->sp].where = PS_AT_NOWHERE;	/* the CFA */
	out->at[arch->ra] = frame.is_outermost ? (struct ps_location){ .where = PS_AT_NOWHERE } :
						 find_return_address(arch, frame.size);
	return true;
}
