/* go_row.c - the size of a frame is a row: as in .debug_frame of Go, registers are not saved. */
#include "unwind/go_row.h"

#include <elf.h>

#include "image/go_frame.h"

bool ps_go_row(const struct ps_elf *e, const struct ps_arch *arch, uint64_t vaddr,
	       struct ps_row *out)
{
	struct ps_go_frame frame;

	if (arch->machine != EM_X86_64 || !ps_go_frame_find(e, vaddr, &frame))
		return false;
	out->start = frame.start;
	out->end = frame.end;
	out->nr_ops = 0;
	out->signal = false;
	out->cfa = (struct ps_location){
		.where = PS_IN_REGISTER,
		.reg = arch->sp,
		.offset = (int64_t)frame.size + arch->word,
	};
	for (unsigned int i = 0; i < arch->nr_registers; i++)
		out->at[i] = (struct ps_location){ .where = PS_AT_SAME };
	out->at[arch->sp].where = PS_AT_NOWHERE;	/* the CFA */
	out->at[arch->ra] = (struct ps_location){
		.where = frame.is_outermost ? PS_AT_NOWHERE : PS_AT_CFA,
		.offset = -(int64_t)arch->word,
	};
	return true;
}
