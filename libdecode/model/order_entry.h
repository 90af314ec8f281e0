/* order_entry.h - queued items by (time, seq): a heap, and a sort that uses ascending runs. */
#ifndef PD_MODEL_ORDER_ENTRY_H
#define PD_MODEL_ORDER_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pd_order_entry {
	uint64_t time, seq;	/* seq: position in the input, so that equal times keep their
				 * order */
	void *at;
};

static inline bool pd_entry_before(const struct pd_order_entry *a, const struct pd_order_entry *b)
{
	return a->time < b->time || (a->time == b->time && a->seq < b->seq);
}

/* heap[0] is the smallest of n. */
void pd_entry_push(struct pd_order_entry *heap, size_t n, struct pd_order_entry new_entry);
void pd_entry_pop(struct pd_order_entry *heap, size_t n);
/* Restores the heap after heap[0] has grown. */
void pd_entry_sink(struct pd_order_entry *heap, size_t n);

/* Sorts n entries in ascending order. Returns v or scratch, which must have room for n, whichever
 * has the result. */
struct pd_order_entry *pd_entry_sort(struct pd_order_entry *v, struct pd_order_entry *scratch,
				     size_t n);

#endif
