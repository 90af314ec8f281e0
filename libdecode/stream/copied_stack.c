/* copied_stack.c - what a sample copied of a thread's user space, to be unwound: see pd/pd.h. */
#include "layout/registers.h"
#include "stream/record.h"

static bool go_to(const struct pd_record *r, const struct pd_op *op, struct pd_cursor *c)
{
	return pd_go_to_op(r->plan, op, r->body, r->extent.nr_ops, r->session->swap, c);
}

/* Takes the word size and the registers. */
static void take_registers(const struct pd_op *op, struct pd_cursor *c,
			   struct pd_copied_stack *out)
{
	const struct pd_op *registers = &op->list->ops[1];
	const uint8_t *data;

	if (!pd_take_number(c, op->list->ops[0].width, &out->abi) || !out->abi)
		return;
	data = pd_take(c, registers->size);
	if (data)
		out->registers = (struct pd_numbers){
			data, registers->size / registers->width, registers->width,
			c->swap == PD_SWAP_YES, registers->names
		};
}

/* Takes the stack, of which the number after it is valid. */
static void take_stack(const struct pd_op *op, struct pd_cursor *c, struct pd_copied_stack *out)
{
	const unsigned int width = op->list->ops[0].width;
	uint64_t copied = 0;

	if (!pd_take_number(c, width, &out->size) || !out->size ||
	    !pd_take_bytes(c, (size_t)out->size, &out->bytes))
		return;
	if (pd_take_number(c, width, &copied) && copied < out->bytes.size)
		out->bytes.size = (size_t)copied;
}

static bool is_precise(const struct pd_frame *frame)
{
	uint64_t bit;

	return frame->desc && pd_value_of(frame->desc->misc, "EXACT_IP", &bit) &&
	       frame->misc & bit;
}

bool pd_record_copied_stack(const struct pd_record *r, struct pd_copied_stack *out)
{
	const struct pd_op *registers, *stack;
	struct pd_cursor c;

	if (!r || !out || r->frame.type != PD_RECORD_SAMPLE || !r->attr || !r->attr->regs_user)
		return false;
	*out = (struct pd_copied_stack){
		.machine = (uint16_t)pd_arch_machine(r->session->arch),
		.mask = r->attr->regs_user,
		.is_swapped = r->session->swap == PD_SWAP_YES,
		.is_precise = is_precise(&r->frame),
	};
	if (!r->plan || !go_to(r, r->plan->regs_user, &c))
		return false;
	registers = r->plan->regs_user;
	take_registers(registers, &c, out);
	stack = r->plan->stack_user;
	/* the stack mostly follows the registers */
	if (stack && (stack == registers + 1 ?
			      r->extent.nr_ops > (size_t)(stack - r->plan->list->ops) :
			      go_to(r, stack, &c)))
		take_stack(stack, &c, out);
	return out->registers.count > 0;
}
