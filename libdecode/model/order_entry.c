/* order_entry.c - sorts queued items by (time, seq). */
#include "model/order_entry.h"

#include <string.h>

void pd_entry_push(struct pd_order_entry *heap, size_t n, struct pd_order_entry new_entry)
{
	size_t i = n;

	for (; i && pd_entry_before(&new_entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = new_entry;
}

void pd_entry_sink(struct pd_order_entry *heap, size_t n)
{
	struct pd_order_entry moved = heap[0];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && pd_entry_before(&heap[child + 1], &heap[child]))
			child++;
		if (!pd_entry_before(&heap[child], &moved))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

void pd_entry_pop(struct pd_order_entry *heap, size_t n)
{
	heap[0] = heap[n - 1];
	if (n > 1)
		pd_entry_sink(heap, n - 1);
}

/* Returns the end of the ascending run that starts at i. */
static size_t run_end(const struct pd_order_entry *v, size_t i, size_t n)
{
	do
		i++;
	while (i < n && pd_entry_before(&v[i - 1], &v[i]));
	return i;
}

static void merge_runs(const struct pd_order_entry *a, const struct pd_order_entry *a_end,
		       const struct pd_order_entry *b, const struct pd_order_entry *b_end,
		       struct pd_order_entry *to)
{
	while (a < a_end && b < b_end)
		*to++ = pd_entry_before(b, a) ? *b++ : *a++;
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	to += a_end - a;
	memcpy(to, b, (size_t)(b_end - b) * sizeof(*b));
}

/* Records arrive as one ascending run for each CPU and round: few runs, so few passes. */
struct pd_order_entry *pd_entry_sort(struct pd_order_entry *v, struct pd_order_entry *scratch,
				     size_t n)
{
	if (n < 2)
		return v;
	for (;;) {
		struct pd_order_entry *swap = v;
		size_t first, i = 0;

		first = run_end(v, 0, n);
		if (first == n)
			return v;
		while (i < n) {
			size_t middle = i ? run_end(v, i, n) : first;
			size_t end = middle < n ? run_end(v, middle, n) : n;

			merge_runs(v + i, v + middle, v + middle, v + end, scratch + i);
			i = end;
		}
		v = scratch;
		scratch = swap;
	}
}
