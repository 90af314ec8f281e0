/* flat.c - flattens overlapping ranges: see flat.h. The sweep keeps the ranges that are open at an
 * address in a heap, the largest value on top. */
#include "image/flat.h"

#include "image/sort.h"

struct open_range {
	uint64_t end;
	uint32_t value;
};

struct sweep {
	struct open_range *heap;
	size_t nr;
	uint32_t last;		/* value of the last point */
	struct ps_flat *out;
};

static void push_open(struct sweep *s, struct open_range r)
{
	size_t i = s->nr++;

	while (i && s->heap[(i - 1) / 2].value < r.value) {
		s->heap[i] = s->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	s->heap[i] = r;
}

static void pop_open(struct sweep *s)
{
	const struct open_range r = s->heap[--s->nr];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < s->nr && s->heap[child + 1].value > s->heap[child].value)
			child++;
		if (child >= s->nr || s->heap[child].value <= r.value)
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = r;
}

static void add_point(struct sweep *s, uint64_t at, uint32_t value)
{
	if (value == s->last)
		return;
	s->out->points[s->out->nr++] = (struct ps_point){ at, value };
	s->last = value;
}

static void run_sweep(struct sweep *s, const struct ps_range *ranges, const struct ps_key *order,
		      size_t n)
{
	uint64_t at = n ? order[0].key : 0;
	size_t i = 0;

	while (i < n || s->nr) {
		for (; i < n && order[i].key <= at; i++) {
			const struct ps_range *r = &ranges[order[i].index];

			if (r->end > r->start)
				push_open(s, (struct open_range){ r->end, r->value });
		}
		while (s->nr && s->heap[0].end <= at)
			pop_open(s);
		add_point(s, at, s->nr ? s->heap[0].value : PS_FLAT_NONE);
		if (i < n && (!s->nr || order[i].key < s->heap[0].end))
			at = order[i].key;
		else if (s->nr)
			at = s->heap[0].end;
	}
	add_point(s, at, PS_FLAT_NONE);
}

int ps_flat_build(struct ps_flat *f, const struct ps_range *ranges, size_t n)
{
	struct ps_key *order = pd_budget_alloc(f->budget, n * sizeof(*order));
	struct sweep s = { .last = PS_FLAT_NONE, .out = f };
	int ret = -1;

	f->capacity = 2 * n + 1;
	f->points = pd_budget_alloc(f->budget, f->capacity * sizeof(*f->points));
	s.heap = pd_budget_alloc(f->budget, (n + 1) * sizeof(*s.heap));
	if (order && f->points && s.heap) {
		for (size_t i = 0; i < n; i++)
			order[i] = (struct ps_key){ ranges[i].start, (uint32_t)i };
		ret = ps_sort_keys(order, n, f->budget);
	}
	if (!ret)
		run_sweep(&s, ranges, order, n);
	pd_budget_free(f->budget, order, n * sizeof(*order));
	pd_budget_free(f->budget, s.heap, (n + 1) * sizeof(*s.heap));
	if (ret)
		ps_flat_free(f);
	return ret;
}

uint32_t ps_flat_find(const struct ps_flat *f, uint64_t address)
{
	const struct ps_point *from = f->points;
	size_t n = f->nr;

	if (!n || address < from->at)
		return PS_FLAT_NONE;
	while (n > 1) {
		const size_t half = n / 2;

		from += from[half].at <= address ? half : 0;
		n -= half;
	}
	return from->value;
}

void ps_flat_free(struct ps_flat *f)
{
	pd_budget_free(f->budget, f->points, f->capacity * sizeof(*f->points));
	*f = (struct ps_flat){ .budget = f->budget };
}
