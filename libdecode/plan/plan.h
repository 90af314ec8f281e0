/* plan.h - a layout compiled for one attribute: what the attribute decides is decided, names are slots.
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

/* What a layout may depend on beside the record's own bytes. */
struct pd_facts {
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t regs_user, regs_intr;
	const struct pd_arch *arch;
	uint32_t cpus_available;
	bool knows_misc;		/* the record header's misc is this in each record of the plan */
	uint16_t misc;
};

struct pd_op_list;

struct pd_op {
	const struct pd_field *field;
	struct pd_op_list *list;	/* of groups, structs, arrays */
	const char *const *names;	/* of registers */
	uint64_t when_value, count_value;
	uint32_t offset;		/* from the start of its list */
	uint32_t size;			/* on the wire */
	uint16_t width;
	uint8_t kind;
	uint8_t on, left;		/* what is left of pd_when */
	bool unless;
	uint8_t count_from;
	int8_t slot;			/* where its number is kept */
	int8_t when_slot, count_slot, by_slot, extent_slot;
};

/* Does a number meet a condition on numbers? */
static inline bool pd_number_says(uint8_t on, uint64_t value, uint64_t number)
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

/* Does the number before it that the row depends on say it is there? `unless` turns the answer over. */
static inline bool pd_op_number_says(const struct pd_op *op, const uint64_t *slots)
{
	return pd_number_says(op->on, op->when_value, op->when_slot >= 0 ? slots[op->when_slot] : 0);
}

/* A number that is needed before its turn. */
struct pd_ahead {
	const struct pd_op *op;
	uint32_t offset;
};

struct pd_op_list {
	struct pd_op *ops;
	struct pd_ahead *aheads;
	uint32_t nr_ops, nr_aheads;
	uint32_t size;			/* of all, where constant */
	uint32_t nr_simple;		/* leading ops that are unconditional numbers or pads at known offsets */
	uint32_t simple_size;		/* bytes of those */
	/* all that varies is the last op: SIZED is a struct of a size, so many bytes, and a pad to a multiple */
	enum { PD_TAIL_NONE, PD_TAIL_TEXT, PD_TAIL_NUMBERS, PD_TAIL_SIZED } tail;
	const struct pd_op *optional;	/* and a group before it, if a test says so; NULL: none. See pd_tail_at() */
	bool is_simple;			/* what is before the tail, and in that group, is simple */
	uint32_t *noted, nr_noted;	/* which of the simple ones are pads, those first, or have a slot */
	uint32_t nr_pads;
};

/* Numbers that are asked for in record after record: looked up when the plan is made. */
enum pd_hot {
	PD_HOT_PID,
	PD_HOT_TID,
	PD_HOT_TIME,
	PD_HOT_CPU,
	PD_HOT_PERIOD,
	PD_HOT_LOST,
	PD_NR_HOT,
};

struct pd_plan {
	struct pd_op_list *list;
	const struct pd_op *hot[PD_NR_HOT];	/* NULL: not there, or not at a fixed place */
	struct pd_budget *budget;
	struct pd_arena *arena;
	unsigned int nr_slots;
	unsigned int variants;		/* mask of the PD_ON_VARIANT bits it has */
	uint16_t misc_bits;		/* of the header's misc that rows depend on, unless it was known */
};

/* NULL when memory runs out. `fields` must outlive the plan. */
struct pd_plan *pd_plan_compile(const struct pd_field *fields, const struct pd_facts *facts, struct pd_budget *budget);
void pd_plan_free(struct pd_plan *plan);

/* The op of the outermost list that is called name, or NULL. */
const struct pd_op *pd_plan_find(const struct pd_plan *plan, const char *name);

/* Is it a number that every record of the plan has, in the same place? */
static inline bool pd_op_is_fixed(const struct pd_op *op)
{
	return op->kind == PD_UINT && op->on == PD_ALWAYS && !op->left && op->offset != PD_VARIABLE &&
	       !op->field->msb_first;
}

#endif
