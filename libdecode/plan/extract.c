/* extract.c - read single numbers of a layout by name; what a visitor may ask of a field. */
#include "plan/extract.h"

#include <string.h>

#define MAX_DEPTH 8

struct extractor {
	const struct pd_extract *extracts;
	size_t n;
	unsigned int depth;
	const char *parents[MAX_DEPTH];
};

static void on_number(void *ctx, const struct pd_field *f, uint64_t value)
{
	struct extractor *p = ctx;
	const char *parent = p->depth ? p->parents[p->depth - 1] : "";

	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->extracts[i].name, f->name) == 0 &&
		    strcmp(p->extracts[i].parent, parent) == 0)
			*p->extracts[i].number = value;
}

static void on_enter(void *ctx, const struct pd_field *f)
{
	struct extractor *p = ctx;

	if (p->depth < MAX_DEPTH)
		p->parents[p->depth++] = f ? f->name : "[]";
}

static void on_leave(void *ctx, const struct pd_field *f)
{
	struct extractor *p = ctx;

	(void)f;
	p->depth--;
}

void pd_extract(const struct pd_plan *plan, struct pd_bytes body, enum pd_swap swap,
		const struct pd_extract *extracts, size_t n)
{
	static const struct pd_visitor visitor = {
		.size = sizeof(visitor), .number = on_number, .enter = on_enter, .leave = on_leave,
	};
	struct extractor p = { .extracts = extracts, .n = n };
	struct pd_extent_of extent;

	pd_measure(plan, body, 0, swap, PD_TEXT_TO_END, &extent);
	pd_visit(plan, body, 0, swap, &extent, &visitor, &p);
}

const char *pd_field_name(const struct pd_field *f)
{
	return f ? f->name : "";
}

const char *pd_field_doc(const struct pd_field *f)
{
	return f && f->doc ? f->doc : "";
}

uint64_t pd_number_at(const struct pd_numbers *n, size_t i)
{
	if (!n || i >= n->count)
		return 0;
	return pd_load(n->data + i * n->width, n->width, n->swapped ? PD_SWAP_YES : PD_SWAP_NO);
}
