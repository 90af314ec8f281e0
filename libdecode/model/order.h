/* order.h - gives items back by time, in bounded memory.
 *
 * Rounds are those of FINISHED_ROUND: what comes after a round is not older than the largest time
 * seen before the round ahead of it. So a round sets free what is up to that time, and the end sets
 * free everything. What doesn't fit in memory waits as sorted runs in an unlinked temporary file.
 */
#ifndef PD_MODEL_ORDER_H
#define PD_MODEL_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "pd/bytes.h"
#include "pd/error.h"

struct pd_order;

struct pd_order_item {
	uint64_t time;
	struct pd_bytes meta;	/* aligned to 8 */
	struct pd_bytes record;	/* aligned to 8 */
};

/* memory: for items and the buffers to merge runs, at least 1 MiB and at most what the budget has
 * left; all charged. Each of up to 64 runs needs room for its largest item, whatever the memory is.
 * spool: most bytes of the temporary file, 0: no limit. NULL: the budget has too little left.
 */
struct pd_order *pd_order_new(struct pd_budget *b, uint64_t memory, uint64_t tempfile);
void pd_order_free(struct pd_order *o);

/* Copies both. An item at or before a time that was set free already is ready at once. Records
 * without a time (0 or ~0) are the caller's to deliver: ~0 would make every later record late.
 * -1: no room for it in memory or in the file. The others are still there for pops.
 */
int pd_order_push(struct pd_order *o, uint64_t time, struct pd_bytes meta, struct pd_bytes record,
		  struct pd_error *e);
void pd_order_round(struct pd_order *o);
void pd_order_end(struct pd_order *o);

/* 1 and the oldest item that is ready (pushed first where times are equal), 0 when none is ready
 * for now, or -1. The item's bytes stay valid until the next push or pop.
 */
int pd_order_pop(struct pd_order *o, struct pd_order_item *out, struct pd_error *e);

/* Items given back after one with a larger time. */
uint64_t pd_order_late(const struct pd_order *o);

#endif
