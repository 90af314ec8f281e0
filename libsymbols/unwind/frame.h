/* frame.h - the registers of a frame, and the step to its caller's. */
#ifndef PS_UNWIND_FRAME_H
#define PS_UNWIND_FRAME_H

#include "unwind/rule.h"
#include "unwind/unwind.h"

struct ps_frame_state {
	const struct ps_copied_stack *in;
	const struct ps_arch *arch;
	uint64_t value[PS_MAX_REGISTERS];
	/* By DWARF number: the value is known; it is unknown because the stack is cut, because it
	 * is on another stack, because a rule dropped it: the row has it. */
	uint64_t known, cut, other, dropped;
	uint64_t base;		/* the stack pointer of the sample */
	uint64_t pc;
	bool exact;		/* pc is the next instruction, not a return address */
	bool retry;		/* a dropped register was needed */
};

/* Sets the state to the sample's registers. Returns false without a pc or a stack pointer. */
bool ps_frame_start(struct ps_frame_state *f, const struct ps_copied_stack *in);

/* These step to the caller: PS_END_NONE, or why there is none. */
enum ps_end ps_frame_step_rule(struct ps_frame_state *f, const struct ps_rule *rule);
enum ps_end ps_frame_step_row(struct ps_frame_state *f, const struct ps_row *row);
/* Follows the frame pointer, where code has no CFI. The caller must check that pc is code. */
enum ps_end ps_frame_step_pointer(struct ps_frame_state *f);

#endif
