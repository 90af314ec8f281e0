/* extract.c - single numbers out of a layout, by name. */
#include "plan/extract.h"

#include <string.h>

#define MAX_DEPTH 8

struct picker {
	const struct pd_pick *picks;
	size_t n;
	unsigned int depth;
	const char *parents[MAX_DEPTH];
};

static void on_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct picker *p = ctx;
	const char *parent = p->depth ? p->parents[p->depth - 1] : "";

	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->picks[i].name, f->name) == 0 && strcmp(p->picks[i].parent, parent) == 0)
			*p->picks[i].number = value;
}

static void on_enter(void *ctx, const struct pd_field *f)
{
	struct picker *p = ctx;

	if (p->depth < MAX_DEPTH)
		p->parents[p->depth++] = f ? f->name : "[]";
}

static void on_leave(void *ctx, const struct pd_field *f)
{
	struct picker *p = ctx;

	(void)f;
	p->depth--;
}

void pd_pick(const struct pd_plan *plan, struct pd_bytes body, enum pd_swap swap, const struct pd_pick *picks, size_t n)
{
	static const struct pd_visitor visitor = {
		.size = sizeof(visitor), .number = on_number, .enter = on_enter, .leave = on_leave,
	};
	struct picker p = { .picks = picks, .n = n };
	struct pd_extent_of extent;

	pd_measure(plan, body, 0, swap, PD_TEXT_TO_END, &extent);
	pd_visit(plan, body, 0, swap, &extent, &visitor, &p);
}
