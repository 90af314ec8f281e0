/* plan.h - a layout compiled for one event: conditions on the attr are decided, and names are
 * resolved to slots.
 *
 * Compiled once per stream and kept; walk.c runs it for each record.
 */
#ifndef PD_PLAN_PLAN_H
#define PD_PLAN_PLAN_H

#include "base/buf.h"
#include "layout/desc.h"
#include "layout/registers.h"

#define PD_VARIABLE UINT32_MAX	/* a size or offset that depends on the record */
#define PD_NO_SLOT (-1)
#define PD_MISC_SLOT 0		/* the record header's misc */
#define PD_SLOTS 48

/* Facts that a layout may depend on besides the record's own bytes. */
struct pd_facts {
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t regs_user, regs_intr;
	const struct pd_arch *arch;
	uint32_t cpus_available;
	/* misc is the same in the header of each record of the plan */
	bool knows_misc;
	uint16_t misc;
};

struct pd_op_list;

struct pd_op {
	const struct pd_field *field;
	struct pd_op_list *list;	/* for groups, structs, arrays */
	const char *const *names;	/* for registers */
	uint64_t when_value, count_value;
	uint32_t offset;		/* from the start of the list */
	uint32_t size;			/* on the wire */
	uint16_t width;
	uint8_t kind;
	uint8_t on, left;		/* remaining condition, see pd_when */
	bool unless;
	uint8_t count_from;
	int8_t slot;			/* where its number is stored */
	int8_t when_slot, count_slot, by_slot, extent_slot;
};

/* Returns whether a number meets a condition on numbers. */
static inline bool pd_number_meets(uint8_t on, uint64_t value, uint64_t number)
{
	switch (on) {
	case PD_ON_MASK:
		return (number & value) != 0;
	case PD_ON_EQUAL:
		return number == value;
	case PD_ON_AT_LEAST:
		return number >= value;
	default:
		return true;
	}
}

/* Evaluates the row's condition on an earlier field, without `unless`. */
static inline bool pd_op_condition_met(const struct pd_op *op, const uint64_t *slots)
{
	return pd_number_meets(op->on, op->when_value, op->when_slot >= 0 ? slots[op->when_slot] :
			       0);
}

/* A number that an earlier row needs. */
struct pd_forward_ref {
	const struct pd_op *op;
	uint32_t offset;
};

struct pd_op_list {
	struct pd_op *ops;
	struct pd_forward_ref *forward_refs;
	uint32_t nr_ops, nr_forward_refs;
	uint32_t size;			/* total, if constant */
	/* leading ops that are unconditional numbers or pads at fixed offsets */
	uint32_t nr_simple;
	uint32_t simple_size;		/* their size in bytes */
	/* set if only the last op varies; SIZED is a struct of a size, bytes of that size, and a
	 * pad to a multiple */
	enum { PD_TAIL_NONE, PD_TAIL_TEXT, PD_TAIL_NUMBERS, PD_TAIL_SIZED } tail;
	/* group under a test before the tail, or NULL: pd_tail_at() */
	const struct pd_op *optional;
	bool is_simple;			/* all ops before the tail and in `optional` are simple */
	uint32_t *special, nr_special;	/* simple ops that are pads (first) or have a slot */
	uint32_t nr_pads;
};

/* Numbers that are read from most records; looked up when the plan is compiled. */
enum pd_hot {
	PD_HOT_PID,
	PD_HOT_TID,
	PD_HOT_TIME,
	PD_HOT_CPU,
	PD_HOT_PERIOD,
	PD_HOT_LOST,
	PD_HOT_IP,
	PD_HOT_ADDR,
	PD_HOT_ID,
	PD_HOT_IDENTIFIER,
	PD_NR_HOT,
};

struct pd_plan {
	struct pd_op_list *list;
	const struct pd_op *hot[PD_NR_HOT];	/* NULL: absent, or not at a fixed offset */
	/* of samples, or NULL; see pd_go_to_op() */
	const struct pd_op *callchain, *raw, *regs_user, *stack_user;
	struct pd_budget *budget;
	struct pd_arena *arena;
	unsigned int nr_slots;
	unsigned int variants;		/* mask of the PD_ON_VARIANT bits in use */
	uint16_t misc_bits;		/* bits of misc that rows depend on, if misc is not known */
};

/* Returns NULL if out of memory. `fields` must outlive the plan. */
struct pd_plan *pd_plan_compile(const struct pd_field *fields, const struct pd_facts *facts,
				struct pd_budget *budget);
void pd_plan_free(struct pd_plan *plan);

/* Returns the op of the outermost list with that name, or NULL. */
const struct pd_op *pd_plan_find(const struct pd_plan *plan, const char *name);

/* Returns whether the op is a number at a fixed offset in every record of the plan. */
static inline bool pd_op_is_fixed(const struct pd_op *op)
{
	return op->kind == PD_UINT && op->on == PD_ALWAYS && !op->left &&
	       op->offset != PD_VARIABLE && !op->field->msb_first;
}

#endif
