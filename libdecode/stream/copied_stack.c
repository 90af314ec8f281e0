/* copied_stack.c - what a sample copied of a thread's user space, to be unwound: see pd/pd.h. */
#include <string.h>

#include "layout/registers.h"
#include "stream/record.h"

/* The struct of a sample whose members are visited. */
enum part { ELSEWHERE, REGISTERS, STACK };

struct collector {
	enum part inside;
	uint64_t copied;	/* dyn_size: bytes of the stack that are valid */
	struct pd_copied_stack *out;
};

static void enter_part(void *ctx, const struct pd_field *f)
{
	struct collector *c = ctx;
	const char *name = f ? pd_field_name(f) : "";

	c->inside = strcmp(name, "regs_user") == 0  ? REGISTERS :
		    strcmp(name, "stack_user") == 0 ? STACK : ELSEWHERE;
}

static void leave_part(void *ctx, const struct pd_field *f)
{
	struct collector *c = ctx;

	(void)f;
	c->inside = ELSEWHERE;
}

static void take_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct collector *c = ctx;

	if (c->inside == REGISTERS && strcmp(pd_field_name(f), "abi") == 0)
		c->out->abi = value;
	else if (c->inside == STACK && strcmp(pd_field_name(f), "size") == 0)
		c->out->size = value;
	else if (c->inside == STACK)
		c->copied = value;
}

static void take_registers(void *ctx, const struct pd_field *f, const struct pd_numbers *n)
{
	struct collector *c = ctx;

	(void)f;
	if (c->inside == REGISTERS)
		c->out->registers = *n;
}

static void take_bytes(void *ctx, const struct pd_field *f, struct pd_bytes bytes)
{
	struct collector *c = ctx;

	(void)f;
	if (c->inside == STACK)
		c->out->bytes = bytes;
}

static bool is_precise(const struct pd_frame *frame)
{
	uint64_t bit;

	return frame->desc && pd_value_of(frame->desc->misc, "EXACT_IP", &bit) &&
	       frame->misc & bit;
}

bool pd_record_copied_stack(const struct pd_record *r, struct pd_copied_stack *out)
{
	static const struct pd_visitor visitor = {
		.size = sizeof(visitor), .number = take_number, .numbers = take_registers,
		.bytes = take_bytes, .enter = enter_part, .leave = leave_part,
	};
	struct collector c = { .out = out };

	if (!r || !out || r->frame.type != PD_RECORD_SAMPLE || !r->attr || !r->attr->regs_user)
		return false;
	*out = (struct pd_copied_stack){
		.machine = (uint16_t)pd_arch_machine(r->session->arch),
		.mask = r->attr->regs_user,
		.is_swapped = r->session->swap == PD_SWAP_YES,
		.is_precise = is_precise(&r->frame),
	};
	pd_record_visit(r, &visitor, &c);
	if (c.copied < out->bytes.size)
		out->bytes.size = (size_t)c.copied;
	return out->registers.count > 0;
}
