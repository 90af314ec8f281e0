/* registers.h - names of the registers that samples of an event have. */
#ifndef PC_REGISTERS_H
#define PC_REGISTERS_H

#include "tables/batch.h"

/* Must be zero-initialized, except for the budgets. */
struct pc_registers {
	struct pd_buf lists;	/* struct pc_register_lists, one for each event */
	struct pd_buf names;	/* each with its NUL */
};

/* Learns the names from a sample of event `event`. */
void pc_registers_learn(struct pc_registers *x, size_t event, const struct pd_record *r);

/* Sets the columns of an event to what was learned. */
void pc_registers_set(struct pc_registers *x, size_t event, struct pc_batch *events);

void pc_registers_free(struct pc_registers *x);

#endif
