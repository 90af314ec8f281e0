/* order.h - sorts items by time, in bounded memory.
 *
 * Rounds are those of FINISHED_ROUND: records after a round are not older than the largest time
 * seen before the round that precedes it. So a round releases the items up to that time, and the
 * end releases all. Items that do not fit into memory wait as sorted runs in an unlinked temporary
 * file.
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

/* Creates a queue. `memory` is for items and the buffers to merge runs: at least 1 MiB, at most
 * what the budget has left; all of it is charged. Each of up to 64 runs needs room for its largest
 * item, whatever `memory` is. `tempfile` is the largest size of the temporary file, 0: no limit.
 * Returns NULL if the budget has too little left. */
struct pd_order *pd_order_new(struct pd_budget *b, uint64_t memory, uint64_t tempfile);
void pd_order_free(struct pd_order *o);

/* Adds an item; copies `meta` and `record`. An item whose time was released already is ready at
 * once. The caller must deliver records without a time (0 or ~0) itself: ~0 would make every later
 * record late. Returns 0, or -1 and *e if neither memory nor file has room for it; the other items
 * can still be popped. */
int pd_order_push(struct pd_order *o, uint64_t time, struct pd_bytes meta, struct pd_bytes record,
		  struct pd_error *e);
void pd_order_round(struct pd_order *o);
void pd_order_end(struct pd_order *o);

/* Returns 1 and the oldest ready item (equal times in the order of pushes), 0 if none is ready for
 * now, or -1 and *e. The item is valid until the next push or pop. */
int pd_order_pop(struct pd_order *o, struct pd_order_item *out, struct pd_error *e);

#endif
