/* row_order.h - rows of a row group by CPU and time: neighbours then share tasks and stacks, which
 * makes the samples of many CPUs that are in the order of time a quarter smaller. */
#ifndef PC_ROW_ORDER_H
#define PC_ROW_ORDER_H

#include "tables/batch.h"

/* Buffers that are kept from batch to batch. Must be zero-initialized, except for the budgets. */
struct pc_row_order {
	struct pd_buf rows, merged;	/* uint32_t: rows of the batch; half sorted */
	struct pd_buf values;		/* of a column, in the new order */
};

void pc_row_order_init(struct pc_row_order *o, struct pd_budget *budget);
void pc_row_order_free(struct pc_row_order *o);

/* Orders the rows of samples and switches by (cpu, time), if there are many, and CPUs change often;
 * a NULL is as 0, and rows that are equal in both stay in their order. Returns 0, or -1 without
 * memory: the batch is then of no use. */
int pc_order_rows(struct pc_row_order *o, struct pc_batch *b);

#endif
